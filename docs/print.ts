import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { printedPages } from './pages/printed-pages.ts';

// `make docs`: prints the tables that come from code into their pages. test/contract/docs.test.ts fails when one is out of date.
try {
  for (const [name, text] of Object.entries(printedPages())) {
    writeFileSync(join(import.meta.dirname, name), text);
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
