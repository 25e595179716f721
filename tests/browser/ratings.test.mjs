/* Ratings: the numbers are those of `kroo ratings`. */
const text = (page, selector) => page.locator(selector).allInnerTexts();
const one = value => Number(value.toFixed(1));

export default [{
  name: 'ratings',
  path: facts => `/ratings?pool=${facts.tournament}`,
  ready: '#matrix tbody tr',
  async test({ page, ok, is, api, kroo, facts }) {
    const said = await kroo('ratings', facts.tournament), answer = await api(`/api/ratings?pool=${facts.tournament}`);
    is('the API rates as kroo ratings does', answer.ratings.map(row => [row.player, row.rating, row.sd, row.games]),
      said.ratings.map(row => [row.player, row.rating, row.sd, row.games]));
    is('and has the same likelihoods and anchor', [answer.los, answer.difference_sd, answer.anchor, answer.first_move],
      [said.los, said.difference_sd, said.anchor, said.first_move]);
    is('every player has a row', await page.locator('#players tbody tr').count(), facts.players);

    const order = [...said.ratings].sort((a, b) => a.list - b.list || (b.rating ?? 0) - (a.rating ?? 0));
    is('in the order of their ratings', await text(page, '#players tbody th'), order.map(row => row.player));
    const best = order.find(row => row.error95 !== null), row = page.locator('#players tbody tr', { has: page.getByRole('rowheader', { name: best.player, exact: true }) });
    const cells = (await row.innerText()).replaceAll('−', '-').replaceAll(',', '');
    ok('with the rating and error to one digit', cells.includes(String(one(best.rating).toFixed(1))) && cells.includes(one(best.error95).toFixed(1)),
      () => `${cells} has not ${best.rating} and ${best.error95}`);
    is('the anchor is named', await page.locator('#players td', { hasText: 'anchor' }).count(), 1);

    is('the matrix is square', await page.locator('#matrix tbody tr td').count(), facts.players ** 2);
    const first = said.ratings.indexOf(order[0]), second = said.ratings.indexOf(order[1]), likelihood = said.los[first][second];
    is('and has the likelihood of superiority', (await text(page, '#matrix tbody tr:first-child td'))[1],
      likelihood === null ? '–' : (100 * likelihood).toFixed(1));
    const bars = page.locator('#plot g.error');
    is('the plot has a point for each rated player', await bars.count(), order.filter(row => row.list === 1 && row.rating !== null && order.filter(o => o.list === 1).length > 1).length);

    is('every match links to its experiment', await page.locator('#matches tbody th a').count(), said.pairings.length);
    is('the tournaments are listed', await page.locator('#all tbody th a[aria-current="true"]').innerText(), facts.tournament);
  },
}, {
  /* A name that nobody has: the page says so; the failed request is what it is about. */
  name: 'ratings-unknown',
  path: '/ratings',
  looks: [],
  ready: '#all tbody tr',
  async test({ session, is }) {
    const page = await session.page();
    await session.open(page, '/ratings?pool=%3Cb%3Enobody', '#trouble:not(:empty)');
    is('an unknown tournament is said to be unknown', /no tournament of this name/.test(await page.locator('#trouble').innerText()), true);
    await session.close(page);
  },
}];
