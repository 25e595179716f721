/* node run.mjs ADDRESS FACTS PICTURES [NAME...]: every *.test.mjs beside this file, or those of these names, against the pages
 * served at ADDRESS. FACTS is a JSON file that says what the cluster holds; PICTURES a folder for screenshots. Prints TAP. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { ok, tap, with_browser } from './harness.mjs';

const [address, facts, pictures, ...names] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));
const files = readdirSync(here).filter(file => file.endsWith('.test.mjs')).sort()
  .filter(file => names.length === 0 || names.includes(file.slice(0, -'.test.mjs'.length)));

ok('there are tests', files.length > 0, `none of these names: ${names}`);
await with_browser({ address, facts: JSON.parse(readFileSync(facts, 'utf8')), pictures }, async session => {
  for (const file of files) {
    try {
      const { default: entries } = await import(pathToFileURL(join(here, file)).href);
      for (const entry of [entries].flat()) await session.judge(entry);
    } catch (error) {
      ok(`${file}: can be run`, false, () => error.stack);
    }
  }
});
console.log(`1..${tap.tests}`);
process.exit(tap.failures > 0 ? 1 : 0);
