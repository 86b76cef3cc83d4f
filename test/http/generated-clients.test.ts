import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openClientFolder, type ClientFolder } from '../support/clients/generated-client.ts';

let folder: ClientFolder;
beforeAll(async () => {
  folder = await openClientFolder({
    'openapi-ts.mjs': ['### openapi-typescript', 0],
    'openapi-fetch.ts': ['### openapi-typescript', 1],
  });
  await folder.run('openapi-ts.mjs');
});
afterAll(() => folder.close());

test('the client that openapi-typescript makes, as docs/clients.md says, compiles strictly', async () => {
  expect(await folder.compile()).toBe('');
});

test('it adds an animal to the digit, reads all pages and gets the code of an error', async () => {
  await folder.expectTrial('openapi-fetch.ts');
});
