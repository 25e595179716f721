/* Cluster: what it shows is what the command line says, and it moves by itself. */
const READY = '#queue table';

async function shows({ page, facts, kroo, is, ok }) {
  const cells = (id, row = 'tbody tr') => page.locator(`#${id} ${row}`).evaluateAll(rows => rows.map(row => [...row.children].map(cell => cell.innerText)));
  const queue = await cells('queue');
  const listed = await kroo('ls', '--limit', '1000');
  const waiting = listed.filter(row => ['running', 'paused', 'blocked', 'pending'].includes(row.state)).map(row => `#${row.id}`).sort();
  is('everything that has not ended is queued', queue.map(row => row[0]).sort(), waiting);
  const running = queue.find(row => row[0] === `#${facts.running}`), paused = queue.find(row => row[0] === `#${facts.paused}`);
  is('with its state', [running[3], paused[3]], ['running', 'paused']);
  ok('and its speed', Number(running[8].replaceAll(',', '')) > 0, running);
  const workers = await kroo('workers');
  is('the workers are those of the command line', (await cells('workers')).map(row => row[0]).sort(), workers.map(row => row.name).sort());
  const events = await kroo('events', '--limit', '40');
  is('the newest event stands first', (await cells('events'))[0][3], events.at(-1).text);
  ok('what ended is there', (await cells('ended')).length > 0);
  const faults = await cells('faults');
  ok('so are the faults, each with a reason', faults.length > 0 && faults.every(row => row.at(-1) !== ''), faults);
  ok('a plot of the day', await page.locator('#day canvas').count() === 1);
  const games = () => page.locator('#figures dd').nth(1).evaluate(dd => Number(dd.firstChild.textContent.replaceAll(',', '')));
  const before = await games();
  await page.waitForFunction(count => Number(document.querySelectorAll('#figures dd')[1].firstChild.textContent.replaceAll(',', '')) > count, before);
  ok('games come in while one looks', await games() > before);
  is('it says that it is live', await page.locator('.live').innerText(), 'live');
}

/* The frame, once for all pages. */
async function frame({ page, is, ok, open }) {
  await page.keyboard.press('Tab');
  is('the first stop of the keyboard skips to the content', await page.evaluate(() => document.activeElement.textContent), 'Skip to the content');
  await page.keyboard.press('Enter');
  ok('and does so', await page.evaluate(() => document.activeElement.tagName === 'MAIN'));
  const theme = page.getByRole('button', { name: 'colours' });
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await ground();
  await theme.click();
  await theme.click();
  is('colours can be chosen', await theme.innerText(), 'dark colours');
  const dark = await ground();
  ok('and change', dark !== light, [light, dark]);
  await open('/experiment', '#content table');
  is('for every page', await ground(), dark);
  await page.getByRole('link', { name: 'Cluster' }).click();
  await page.waitForSelector(READY);
  is('the navigation leads back', new URL(page.url()).pathname, '/');
}

export default [
  { name: 'cluster', path: '/', ready: READY, test: shows },
  { name: 'frame', path: '/', ready: READY, looks: [], test: frame },
];
