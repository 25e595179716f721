/* Experiment: the figures on the page are those of `kroo show`; the list leads to it; it says what is missing. */
const READY = '#content #lengths';

const rows = (page, id) => page.locator(`#${id} tbody tr`).evaluateAll(list => list.map(row => [...row.children].map(cell => cell.innerText)));
const figures = page => page.locator('#result .figures > div').evaluateAll(list =>
  Object.fromEntries(list.map(item => [item.querySelector('dt').innerText, [item.querySelector('dd').firstChild.textContent, item.querySelector('small')?.innerText ?? '']])));
const plain = text => Number(text.replaceAll(',', '').replace('−', '-').replace('+', '').replace(/ .*/, ''));
const round = (value, digits) => Number(value.toFixed(digits));

async function decided({ page, facts, kroo, is, ok }) {
  const show = await kroo('show', String(facts.decided)), seen = await figures(page);
  const best = show.estimate.unbiased;
  is('pairs counted', plain(seen['pairs counted'][0]), show.counted_pairs);
  is('Elo', plain(seen['Elo of A'][0]), round(best.elo, 1));
  is('its interval', seen['Elo of A'][1].match(/[+−][\d.,]+/g).map(plain), [best.elo_lo, best.elo_hi].map(value => round(value, 1)));
  is('the likelihood that A is the stronger', plain(seen['A is stronger'][0]), round(100 * best.los, 2));
  is('LLR', plain(seen.LLR[0]), round(show.sprt.llr, 3));
  is('with its bounds', seen.LLR[1].match(/−?[\d.]+/g).map(plain), [show.sprt.lower, show.sprt.upper].map(value => round(value, 3)));
  is('the six counts', (await rows(page, 'pairs')).map(row => [row[0], plain(row[2])]), ['LL', 'LD', 'DD', 'WL', 'DW', 'WW'].map((name, i) => [name, show.counts[i]]));
  is('the endings', (await rows(page, 'endings')).map(row => [row[0], plain(row[2])]), show.endings.map(row => [row.reason.replaceAll('_', ' ').replaceAll('-', ' '), row.games]));
  const text = await page.locator('#result').innerText();
  ok('the verdict with its model and formulas', text.includes(show.verdict.verdict) && text.includes(`${show.sprt.model} model`) && text.includes(`formulas of version ${show.verdict.formula_version}`), text);
  const specification = await page.locator('#specification').innerText();
  for (const part of [show.rules, String(show.seed), show.key, show.note, show.a.engine_build]) ok(`the specification has ${part}`, specification.includes(part), specification);
  is('three plots', await page.locator('#llr canvas, #elo canvas, #lengths canvas').count(), 3);
  const shares = await rows(page, 'shares');
  is('all its games are somebody\'s', shares.reduce((sum, row) => sum + plain(row[3]), 0), show.games_stored);
  is('a link to its games', await page.locator('#about a').first().getAttribute('href'), `/games?experiment=${facts.decided}`);
}

async function running({ page, kroo, facts, is, ok }) {
  const pairs = () => page.evaluate(() => Number(document.querySelector('#result dd').firstChild.textContent.replaceAll(',', '')));
  const before = await pairs();
  await page.waitForFunction(count => Number(document.querySelector('#result dd').firstChild.textContent.replaceAll(',', '')) > count, before);
  ok('pairs are counted while one looks', await pairs() > before);
  ok('the time left is told', 'time left' in await figures(page));
  ok('no more pairs than there are', await pairs() <= (await kroo('show', String(facts.running))).counted_pairs);
  is('nobody without a token is offered to stop it', await page.locator('#actions button', { hasText: /Pause|Stop/ }).count(), 0);
}

async function faulty({ page, kroo, facts, is }) {
  const faults = await kroo('faults', String(facts.faulty));
  is('the faults of the command line', (await rows(page, 'faults')).map(row => row.at(-1)).sort(), faults.slice(-12).map(row => row.why).sort());
}

async function list({ page, kroo, facts, is, open }) {
  const listed = await kroo('ls', '--limit', '100');
  is('all experiments', (await rows(page, 'list')).map(row => row[0]).sort(), listed.map(row => `#${row.id}`).sort());
  await page.getByRole('link', { name: `#${facts.paused}`, exact: true }).click();
  await page.waitForSelector(READY);
  is('and a link to each', await page.locator('h1').innerText(), `Experiment #${facts.paused}`);
  is('which says why it is paused', await page.locator('#result header .muted').innerText(), 'by local: the room is hot');
}

export default [
  { name: 'experiment', path: facts => `/experiment?id=${facts.decided}`, ready: READY, test: decided },
  { name: 'experiment-running', path: facts => `/experiment?id=${facts.running}`, ready: READY, looks: [], test: running },
  { name: 'experiment-faulty', path: facts => `/experiment?id=${facts.faulty}`, ready: READY, looks: [], test: faulty },
  { name: 'experiments', path: '/experiment', ready: '#list table', test: list },
];
