/* Play: whole games by keyboard, what the rules forbid cannot be chosen and is said, analysis, taking back. */
import { execFileSync } from 'node:child_process';
import { dirname, join } from 'node:path';

const READY = '#board:not([aria-busy])';
const MOVES_MOST = 400; /* of one side in a game against a level that wants to win */
const SLAM = '0-1-0-0-0-1-1-0-0-0-0-0-22-23-S', FEED = '1-0-0-0-0-5-0-0-0-0-0-0-21-21-S';
const UNFED = '2-0-0-0-0-0-0-0-0-0-0-0-23-23-S', CYCLE = '0-0-0-0-0-1-0-0-0-0-0-1-23-23-S';

const legal = page => page.locator('#board [aria-disabled="false"]');
const turn = (page, words) => page.waitForFunction(pattern => new RegExp(pattern).test(document.getElementById('turn').textContent), words);
const said = async page => (await page.locator('#said p').allInnerTexts()).join(' ');
const hears = (page, words) => page.waitForFunction(text => document.getElementById('said').textContent.includes(text), words);
const moves = async page => (await page.locator('#moves span:not(.n)').allInnerTexts()).join('');
/* The game as the native engine replays it. */
const replayed = game => JSON.parse(execFileSync(join(dirname(process.env.KROO), 'kroo-engine'), ['replay'], { input: `${game}\n` }));

async function play_by_keyboard(page) {
  for (let move = 0; move < MOVES_MOST; move++) {
    await turn(page, '^Your turn$|over');
    if (await legal(page).count() === 0) return;
    const letter = await legal(page).nth(move % await legal(page).count()).getAttribute('data-house');
    const before = (await moves(page)).length;
    await page.keyboard.press(letter.toLowerCase());
    await page.waitForFunction(count => document.querySelectorAll('#moves span:not(.n)').length > count, before);
  }
}

async function whole_game({ page, facts, ok, is }) {
  if (facts.champion) ok('the champion of the cluster plays', /champion/.test(await page.locator('#weights option:checked').innerText()));
  is('six houses may be chosen', await legal(page).count(), 6);
  is('and say what they are', await legal(page).first().getAttribute('aria-label'), 'house A, 4 seeds, legal');
  is('those of the other side may not', await page.locator('[data-house=a]').getAttribute('aria-label'), 'house a, 4 seeds, not legal');
  await page.locator('#board [tabindex="0"]').focus();
  await page.keyboard.press('ArrowRight');
  is('arrows go from house to house', await page.evaluate(() => document.activeElement.dataset.house), 'B');
  await page.keyboard.press('ArrowUp');
  is('and across', await page.evaluate(() => document.activeElement.dataset.house), 'e');
  await page.keyboard.press('Enter');
  is('a house that is not legal is not played', await moves(page), '');
  await play_by_keyboard(page);
  const game = await moves(page), told = await said(page), end = replayed(game);
  is('the game came to an end by the rules', end.result === 'unfinished', false);
  const score = end.result === 'draw' ? `A draw, ${end.stores.join(' to ')}.`
    : end.result === 'south' ? `South wins, ${end.stores.join(' to ')}.` : `North wins, ${[...end.stores].reverse().join(' to ')}.`;
  ok('and the page says it as kroo-engine does', told.includes(score), () => `${told} has not: ${score}`);
  is('and nothing may be chosen any more', await legal(page).count(), 0);
  await page.click('#undo');
  await turn(page, '^Your turn$');
  is('undo takes back to the own move before', game.startsWith(await moves(page)) && (await moves(page)).length >= game.length - 2, true);
}

/* Positions where the rules surprise; both sides played here. */
async function rules_are_said({ page, open, ok, is }) {
  const start = (position, more = '') => open(`/play?side=both&start=${position}${more}`, READY);
  await start(SLAM);
  await page.locator('[data-house=F]').focus();
  await page.keyboard.press('Enter');
  await hears(page, 'A grand slam takes nothing');
  is('a grand slam takes nothing', await page.locator('[data-house=a]').getAttribute('aria-label'), 'house a, 2 seeds, legal');
  is('in a region that is read out', await page.locator('#said').getAttribute('aria-live'), 'polite');

  await start(FEED);
  await hears(page, 'North has no seeds left and must be fed: South may play F only.');
  is('only the house that feeds may be chosen', await legal(page).evaluateAll(all => all.map(one => one.dataset.house)), ['F']);
  await page.locator('[data-house=A]').click({ force: true });
  is('the other is not played', await moves(page), '');
  await page.locator('[data-house=F]').click();
  await hears(page, 'South plays F.');
  is('the one that feeds is', await moves(page), 'F');

  await start(UNFED);
  await hears(page, 'South cannot feed North');
  ok('the end when nobody can be fed', /the game ends, and each side takes the seeds in its own row\. South wins, 25 to 23\.$/.test(await said(page)), await said(page));

  await start(CYCLE, '&moves=FfAaBbCcDdEeFfAaBbCcDdE');
  await page.locator('[data-house=e]').click();
  await hears(page, 'The position has stood three times');
  is('the third repetition ends the game', await page.locator('#turn').innerText(), 'The game is over');

  await start('4-4-4-4-4-4-4-4-4-4-4-4-0-0-S', `&rules=${encodeURIComponent('site,quiet_limit=2')}&moves=C`);
  await page.locator('[data-house=d]').click();
  await hears(page, '2 plies went by without a capture');
  ok('so do plies without a capture', /South wins, 25 to 23\.$/.test(await said(page)), await said(page));
}

async function analysis({ page, open, ok, is }) {
  await open('/play?side=both&moves=FcE', READY);
  await page.click('#analyse');
  await page.waitForFunction(() => document.querySelectorAll('#analysis tbody tr').length === 6);
  is('every house that may be played has a line', (await page.locator('#analysis tbody th').allInnerTexts()).sort(), [...'abcdef']);
  ok('and its score stands on the board', /score [+−0-9]/.test(await page.locator('[data-house=a]').getAttribute('aria-label')));
  await page.click('#analyse');
  is('until it is turned off', await page.locator('#analysis tbody tr').count(), 0);
  await page.click('#copy-link');
  await page.waitForFunction(() => document.getElementById('copied').textContent !== '');
  is('the address is the link to this position', new URL(page.url()).searchParams.get('moves'), 'FcE');
  await page.click('#agree');
  await hears(page, 'Both agree that the game goes nowhere');
  await page.click('#undo');
  await page.click('#resign');
  await hears(page, 'North resigns.');
}

/* The engine against itself, until somebody pauses it. */
async function watched({ page, is }) {
  is('nobody may choose a house', await legal(page).count(), 0);
  await page.waitForFunction(() => document.querySelectorAll('#moves span:not(.n)').length >= 6);
  await page.click('#pause');
  await turn(page, '^Paused$');
  const before = await moves(page);
  await page.click('#undo');
  await turn(page, '^Paused$');
  is('paused, a move is taken back', await moves(page), before.slice(0, -1));
  await page.click('#pause');
  await page.waitForFunction(count => document.querySelectorAll('#moves span:not(.n)').length > count, before.length);
  is('and the same seed plays it again', (await moves(page)).startsWith(before), true);
}

/* What a coordinator says that was built with WASM=no. */
async function without_engine({ session, is }) {
  const page = await session.page();
  await page.route('**/kroo-engine.wasm', route => route.fulfill({ status: 404, contentType: 'application/json', body: '{}' }));
  for (const path of ['/play', '/games']) {
    await session.open(page, path, '#trouble:not(:empty)');
    is(`${path} says what is missing`, /built without the engine for pages: install emscripten/.test(await page.locator('#trouble').innerText()), true);
  }
  await page.waitForSelector('#list tbody tr');
  is('and the games are listed all the same', await page.locator('#list tbody tr').count() > 0, true);
  await session.close(page);
}

export default [
  { name: 'play', path: '/play?side=south&level=2&seed=7', ready: READY, test: whole_game },
  { name: 'play-rules', path: `/play?side=both&start=${SLAM}&moves=F`, ready: READY, looks: [], test: rules_are_said },
  { name: 'play-analysis', path: '/play?side=both', ready: READY, looks: [], test: analysis },
  { name: 'play-watch', path: '/play?side=none&level=1&seed=3', ready: READY, looks: [], test: watched },
  { name: 'play-without-engine', path: '/play', ready: READY, looks: [], test: without_engine },
];
