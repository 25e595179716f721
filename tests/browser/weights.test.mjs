/* Weights: lineage, generations, the fit, what they say, and files whose checksums are right. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

const digest = bytes => createHash('sha256').update(bytes).digest('hex');

async function save(page, name) {
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: `Save ${name}` }).click()]);
  return readFileSync(await download.path());
}

const shown = (page, format) => page.locator('#files .file', { has: page.getByRole('link', { name: `Save ${format}` }) }).locator('.digest').innerText();

export default [{
  name: 'weights',
  path: '/weights',
  ready: '#says .houses svg',
  async test({ page, ok, is, api, kroo, facts }) {
    const all = await kroo('weights', 'ls'), answer = await api('/api/weights');
    is('the API has the weights that kroo weights lists', answer.weights.map(row => row.number), all.map(row => row.number));
    is('each is a box of the lineage', await page.locator('#lineage a.box').count(), all.length);
    is('and a row of the table', await page.locator('#all tbody tr').count(), all.length);
    is('the champion is marked', await page.locator('#lineage a.champion').count(), all.filter(row => row.champion).length);
    const fitted = answer.weights.filter(row => row.parent ?? row.challenged);
    is('whoever has an ancestor here has a line to it', await page.locator('#lineage .edge').count(), fitted.length);

    const champion = answer.weights.find(row => row.champion.includes('main'));
    is('the champion is what is shown', await page.locator('#one-title').innerText(), `Weights #${champion.number} ${champion.name}`);
    is('with its hash', [champion.sha256, await shown(page, 'binary')], [facts.champion, facts.champion]);
    const binary = await save(page, 'binary'), json = await save(page, 'JSON');
    is('the binary has the hash beside its button', digest(binary), facts.champion);
    is('the JSON has the one beside its own', digest(json), await shown(page, 'JSON'));
    is('and is what kroo weights export writes', JSON.parse(json), await kroo('weights', 'export', String(champion.number), '--format', 'json'));

    is('twelve houses say what their seeds are worth', await page.locator('#says .houses svg').count(), 12);
    is('in each phase', await page.locator('#says .houses svg').first().locator('path.curve').count(), 4);
    ok('the loss is drawn', await page.locator('#loss canvas').count() === 1);
    is('so is the Elo of each generation', await page.locator('#elo g.error').count(), facts.generations);
    ok('and how well it is calibrated', await page.locator('#calibration circle').count() > 0);
    const { fit } = await api(`/api/weights?id=${champion.number}`);
    is('perfect play is the share of best moves that the fit measured', (await page.locator('#perfect dd').first().innerText()).split('\n')[0],
      `${(100 * fit.perfect.own.best / fit.perfect.own.positions).toFixed(1)} %`);

    await page.locator('#lineage a.box').first().press('Enter');
    await page.waitForURL(/\/weights\?id=\d+$/);
    await page.waitForSelector('#says .houses svg');
    is('a box of the lineage leads to its weights by keyboard', await page.locator('#one-title').innerText(), `Weights #${all[0].number} ${all[0].name}`);
  },
}, {
  name: 'weights-net',
  path: facts => `/weights?id=${facts.net}`,
  ready: '#says .houses svg',
  looks: [{ theme: 'light', width: 1280 }, { theme: 'dark', width: 360 }],
  async test({ page, is, facts, api }) {
    const { fit } = await api(`/api/weights?id=${facts.net}`);
    is('a net has its epochs', fit.curve.at(-1).epochs.length > 0, true);
    is('and says of twelve houses what it makes of their seeds', await page.locator('#says .houses svg').count(), 12);
  },
}];
