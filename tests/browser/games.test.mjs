/* Games: what the filter finds is what `kroo games` prints, and the board steps through it as kroo-engine replays it. */
import { execFileSync } from 'node:child_process';
import { dirname, join } from 'node:path';

const READY = '#game:not(.empty-game)';
const rows = page => page.locator('#list tbody tr');
const ids = page => page.locator('#list button.open').allInnerTexts();
const idle = page => page.waitForSelector('#list:not([aria-busy])');
const where = (page, words) => page.waitForFunction(text => document.getElementById('where').textContent.startsWith(text), words);
const address = page => new URL(page.url()).searchParams;

/* Every stored game of an experiment, from the command line, the newest pair first. */
function stored(id) {
  const text = execFileSync(process.env.KROO, ['games', String(id), '--format', 'json'], { maxBuffer: 1 << 27 }).toString();
  return text.trim().split('\n').map(line => JSON.parse(line)).reverse();
}
const idOf = game => `${game.experiment}-${game.pair}-${game.leg}`;

async function find(page, wishes) {
  await page.click('#filter button[type=reset]');
  await page.waitForFunction(() => location.search === '' || !new URLSearchParams(location.search).has('experiment'));
  await idle(page);
  for (const [name, value] of Object.entries(wishes))
    if (['result', 'reason'].includes(name)) await page.selectOption(`#${name}`, value);
    else await page.fill(`#${name}`, String(value));
  await page.click('#filter button[type=submit]');
  await idle(page);
  while (await page.locator('#older').isEnabled()) {
    const before = await rows(page).count(), looked = await page.locator('#list-note').innerText();
    await page.click('#older');
    await page.waitForFunction(([count, words]) => document.querySelectorAll('#list tbody tr').length > count
      || document.getElementById('list-note').textContent !== words, [before, looked]);
    await idle(page);
  }
}

async function filters({ page, facts, is, ok }) {
  const games = stored(facts.decided);
  const wanted = filter => games.filter(filter).map(idOf);
  const finds = async (name, wishes, filter) => {
    await find(page, { experiment: facts.decided, ...wishes });
    is(name, await ids(page), wanted(filter));
  };
  ok('there are games to find', games.length > 50, games.length);
  await finds('all games of the experiment, page after page', {}, () => true);
  await finds('by result', { result: 'draw' }, game => game.result === 'draw');
  await finds('by ending', { reason: games[0].reason }, game => game.reason === games[0].reason);
  await finds('by opening', { opening: games[0].moves.slice(0, 3) }, game => game.moves.startsWith(games[0].moves.slice(0, 3)));
  await finds('by result and opening', { result: 'south', opening: games[0].moves[0] },
    game => game.result === 'south' && game.moves[0] === games[0].moves[0]);
  const refused = await fetch(new URL('/api/games?opening=AA', page.url()));
  is('what is no opening is refused', [refused.status, /like FcE/.test((await refused.json()).error)], [400, true]);
  await finds('by a player that is not there', { player: 'nobody' }, () => false);
  is('who is told that there is none', await page.locator('#list').innerText(), 'No stored game is like that.');
}

async function steps({ page, facts, api, is, ok, open }) {
  const game = stored(facts.decided)[0], id = idOf(game);
  const told = await api(`/api/game?id=${id}`);
  is('the game is the stored one', [told.moves, told.result, told.reason, told.plies], [game.moves, game.result, game.reason, game.moves.length]);
  await open(`/games?experiment=${facts.decided}&game=${id}`, READY);
  await where(page, 'The start of');
  is('a game opens at its start', await page.locator('#board svg').getAttribute('aria-label'),
    'South to move. South: A 4, B 4, C 4, D 4, E 4, F 4; store 0. North: a 4, b 4, c 4, d 4, e 4, f 4; store 0.');
  is('where there is nothing before', [await page.locator('#first').isDisabled(), await page.locator('#back').isDisabled()], [true, true]);
  await page.locator('#game-title').click();
  await page.keyboard.press('ArrowRight');
  await where(page, 'Move 1 of');
  await page.keyboard.press('ArrowRight');
  await where(page, 'Move 2 of');
  await page.keyboard.press('ArrowLeft');
  await where(page, 'Move 1 of');
  ok('a move is said', (await page.locator('#said').innerText()).startsWith(`South plays ${game.moves[0]}`), await page.locator('#said').innerText());
  await page.keyboard.press('End');
  await where(page, `Move ${game.moves.length} of`);
  const end = JSON.parse(execFileSync(join(dirname(process.env.KROO), 'kroo-engine'), ['replay'], { input: `${game.moves}\n` }));
  const words = await page.locator('#said').innerText();
  ok('the end is said as it was', game.result === 'draw' ? words.includes('A draw,')
    : words.includes(`${game.result === 'south' ? 'South' : 'North'} wins, ${game.result === 'south' ? end.stores.join(' to ') : [...end.stores].reverse().join(' to ')}.`), words);
  is('where there is nothing after', [await page.locator('#forth').isDisabled(), await page.locator('#last').isDisabled()], [true, true]);
  is('the address leads here', [address(page).get('game'), address(page).get('ply')], [id, String(game.moves.length)]);
  ok('a curve is drawn', await page.locator('#curve canvas').count() > 0);
  await page.keyboard.press('Home');
  await where(page, 'The start of');
  await page.click('#forth');
  await where(page, 'Move 1 of');
  await page.locator('#moves [data-ply="5"]').click();
  await where(page, 'Move 5 of');
  await page.click('#copy-position');
  await page.waitForFunction(() => document.getElementById('copied').textContent !== '');
  is('one may play on from there', await page.locator('#play-on').getAttribute('href'), `/play?moves=${game.moves.slice(0, 5)}&side=both`);
  await open(page.url(), READY);
  await where(page, 'Move 5 of');
  is('and the link shows the same again', address(page).get('game'), id);
}

export default [
  { name: 'games', path: facts => `/games?experiment=${facts.decided}`, ready: READY, test: filters },
  { name: 'games-steps', path: facts => `/games?experiment=${facts.decided}`, ready: READY, looks: [], test: steps },
];
