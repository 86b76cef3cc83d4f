import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { printedPages } from './pages/printed-pages.ts';

// `make docs`: writes the pages that come from code. test/contract/docs.test.ts tells when one is out of date.
for (const [name, text] of Object.entries(printedPages())) {
  writeFileSync(join(import.meta.dirname, name), text);
}
