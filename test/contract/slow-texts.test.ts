import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

const counting = join(import.meta.dirname, '../support/text-steps/count-text-steps.ts');

test("every parser's steps grow no faster than its text, and no pattern built at run time backtracks", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [counting]);
  expect(JSON.parse(stdout)).toEqual([
    // This parser orders marks. A request's headers, which contain the path, take at most 16 KiB.
    'adapters/edge/served-file.ts: accents',
    // Planted in the program that counts.
    ...['a nested loop', 'a search in a loop', 'an ordering of marks', '/^(a+)+$/'],
  ]);
});
