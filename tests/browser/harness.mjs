/* What the browser tests share: Chromium, a page that is watched, the looks at which each page is judged, TAP.
 * tests/browser/README.md says how a page's test is written; tests/system/test_browser.sh starts the cluster. */
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';

export const LOOKS = ['light', 'dark'].flatMap(theme => [1280, 360].map(width => ({ theme, width })));
/* Of each single wait; machines that run tests are busy and of any speed. */
const DEADLINE_MS = 30000;
const HEIGHT = 900;
const ARGUMENTS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage', '--hide-scrollbars'];

const require = createRequire(join(process.env.KROO_BROWSER_MODULES, 'from-here.js'));
const run = promisify(execFile);

/* --- TAP --- */

export const tap = { tests: 0, failures: 0 };

function comment(text) {
  for (const line of String(text).split('\n')) console.log(`# ${line}`);
}

/** The condition holds; `why` is shown where it does not: a text, or a function that makes one. */
export function ok(name, condition, why = '') {
  tap.tests++;
  if (condition) {
    console.log(`ok ${tap.tests} - ${name}`);
    return true;
  }
  tap.failures++;
  console.log(`not ok ${tap.tests} - ${name}`);
  const text = typeof why === 'function' ? why() : why;
  if (text) comment(text);
  return false;
}

/** Equal as JSON. */
export function is(name, actual, expected) {
  const [got, wanted] = [JSON.stringify(actual), JSON.stringify(expected)];
  return ok(name, got === wanted, () => `got      ${got}\nexpected ${wanted}`);
}

/* --- a page that is watched --- */

/* Collects what a page must not do: say errors, fail a request, ask another host. */
function watch(page, origin) {
  const seen = { errors: [], failures: [], strangers: [], over: false };
  const note = (list, text) => { if (!seen.over) list.push(text); };
  page.on('console', message => {
    if (['error', 'warning'].includes(message.type())) note(seen.errors, `${message.type()}: ${message.text()}`);
  });
  page.on('pageerror', error => note(seen.errors, error.stack ?? String(error)));
  page.on('request', request => {
    const url = new URL(request.url());
    if (!['data:', 'blob:'].includes(url.protocol) && url.origin !== origin) note(seen.strangers, request.url());
  });
  page.on('requestfailed', request => {
    // What was under way when the page was left.
    if (request.failure()?.errorText !== 'net::ERR_ABORTED') note(seen.failures, `${request.url()}: ${request.failure()?.errorText}`);
  });
  page.on('response', response => {
    if (response.status() >= 400) note(seen.failures, `${response.url()}: ${response.status()}`);
  });
  return seen;
}

/* Elements that stick out of the page to the right, the outermost ones, for whoever has to mend it. */
function sticking_out() {
  const width = document.documentElement.clientWidth, found = [];
  for (const element of document.querySelectorAll('body *')) {
    if (element.getBoundingClientRect().right <= width + 1) continue;
    const name = element.tagName.toLowerCase() + (element.id ? `#${element.id}` : '')
      + (typeof element.className === 'string' && element.className ? `.${element.className.replaceAll(' ', '.')}` : '');
    found.push(`${name} ends at ${Math.round(element.getBoundingClientRect().right)}`);
  }
  return { wide: document.scrollingElement.scrollWidth, width, found: found.slice(0, 8) };
}

function structure() {
  const count = selector => document.querySelectorAll(selector).length;
  return { language: document.documentElement.lang, titled: document.title.trim() !== '', main: count('main'), h1: count('h1'),
    navigation: count('nav') > 0, here: count('nav [aria-current="page"]') };
}

const found_by_axe = [];

async function judge_by_axe(page, label) {
  await page.evaluate(`window.axe || (() => { ${readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8')} })()`);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  const short = violations.map(({ id, impact, help, nodes }) =>
    ({ id, impact, help, nodes: nodes.map(node => ({ target: node.target.join(' '), why: node.failureSummary })) }));
  found_by_axe.push({ page: label, violations: short });
  const grave = short.filter(violation => ['serious', 'critical'].includes(violation.impact));
  ok(`${label}: axe finds nothing serious`, grave.length === 0, () => grave.map(({ id, impact, help, nodes }) =>
    `${impact} ${id}: ${help}\n${nodes.slice(0, 4).map(node => `  ${node.target}\n    ${node.why}`).join('\n')}`).join('\n'));
}

function judge_watch(seen, label) {
  ok(`${label}: says no error`, seen.errors.length === 0, () => seen.errors.join('\n'));
  ok(`${label}: no request fails, none goes to another host`, seen.failures.length + seen.strangers.length === 0,
    () => [...seen.failures, ...seen.strangers.map(url => `another host: ${url}`)].join('\n'));
}

/* --- the tests of one page --- */

export class Session {
  constructor(browser, { address, facts, pictures }) {
    Object.assign(this, { browser, address, facts, pictures });
    this.origin = new URL(address).origin;
  }

  /** JSON of an API path. */
  async api(path) {
    const response = await fetch(new URL(path, this.address), { signal: AbortSignal.timeout(DEADLINE_MS) });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.json();
  }

  /** JSON that `kroo ARGUMENTS --json` prints, asked of the same cluster. */
  async kroo(...words) {
    const { stdout } = await run(process.env.KROO, [...words, '--json'], { maxBuffer: 1 << 26, timeout: DEADLINE_MS });
    return JSON.parse(stdout);
  }

  /** A fresh browser profile with one page, not yet opened; `page.seen` is what the watch saw. */
  async page({ theme = 'light', width = 1280 } = {}) {
    const context = await this.browser.newContext({ colorScheme: theme, reducedMotion: 'reduce', acceptDownloads: true,
      viewport: { width, height: HEIGHT }, locale: 'en-GB', timezoneId: 'UTC' });
    context.setDefaultTimeout(DEADLINE_MS);
    const page = await context.newPage();
    page.seen = watch(page, this.origin);
    return page;
  }

  async open(page, path, ready) {
    await page.goto(new URL(path, this.address).href, { waitUntil: 'load', timeout: DEADLINE_MS });
    if (ready) await page.waitForSelector(ready, { timeout: DEADLINE_MS });
  }

  async close(page) {
    page.seen.over = true; // what is cut off by closing is no failure
    await page.context().close();
  }

  /* One page at one width in one theme. */
  async look(name, path, ready, { theme, width }) {
    const label = `${name}, ${theme}, ${width} px`;
    const page = await this.page({ theme, width });
    try {
      await this.open(page, path, ready);
      const wide = await page.evaluate(sticking_out);
      ok(`${label}: fits its width`, wide.wide <= wide.width, () => `${wide.wide} > ${wide.width}: ${wide.found.join(', ')}`);
      is(`${label}: has language, title, one main, one heading, its place in the navigation`, await page.evaluate(structure),
        { language: 'en', titled: true, main: 1, h1: 1, navigation: true, here: 1 });
      await judge_by_axe(page, label);
      await page.screenshot({ path: join(this.pictures, `${name}-${theme}-${width}.png`), fullPage: true });
      judge_watch(page.seen, label);
    } catch (error) {
      ok(`${label}: can be looked at`, false, () => [error.stack, ...page.seen.errors, ...page.seen.failures].join('\n'));
    } finally {
      await this.close(page);
    }
  }

  /* What the page's own file asks of it, in a fresh watched page. */
  async ask(name, path, { ready, test }) {
    const page = await this.page();
    const scoped = { session: this, facts: this.facts, page, name, api: p => this.api(p), kroo: (...words) => this.kroo(...words),
      open: (target, then) => this.open(page, target, then), ok: (what, ...rest) => ok(`${name}: ${what}`, ...rest),
      is: (what, ...rest) => is(`${name}: ${what}`, ...rest),
      shoot: what => page.screenshot({ path: join(this.pictures, `${name}-${what}.png`), fullPage: true }) };
    try {
      await this.open(page, path, ready);
      await test(scoped);
      judge_watch(page.seen, `${name}, used`);
    } catch (error) {
      ok(`${name}: can be used`, false, () => [error.stack, ...page.seen.errors, ...page.seen.failures].join('\n'));
    } finally {
      await this.close(page);
    }
  }

  /** One entry of a test file: { name, path, ready, looks, test }. */
  async judge(entry) {
    const path = typeof entry.path === 'function' ? entry.path(this.facts) : entry.path;
    for (const look of entry.looks ?? LOOKS) await this.look(entry.name, path, entry.ready, look);
    if (entry.test) await this.ask(entry.name, path, entry);
  }
}

/** Starts Chromium, calls `body(session)`, and leaves the axe report beside the pictures. */
export async function with_browser({ address, facts, pictures }, body) {
  const { chromium } = require('playwright-core');
  mkdirSync(pictures, { recursive: true });
  const browser = await chromium.launch({ executablePath: process.env.KROO_CHROMIUM ?? '/usr/bin/chromium', headless: true,
    args: ARGUMENTS, timeout: DEADLINE_MS });
  try {
    await body(new Session(browser, { address, facts, pictures }));
  } finally {
    writeFileSync(join(pictures, 'axe.json'), JSON.stringify(found_by_axe, null, 1));
    await browser.close();
  }
}
