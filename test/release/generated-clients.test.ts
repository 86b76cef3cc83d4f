import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openClientFolder, type ClientFolder } from '../support/clients/generated-client.ts';
import { lockedPackages } from '../support/locked-packages.ts';

let folder: ClientFolder;
beforeAll(async () => {
  const packages = await lockedPackages(join(import.meta.dirname, '../clients'));
  folder = await openClientFolder(
    {
      'hey-api.config.mjs': ['### Hey API', 0],
      'hey-api.ts': ['### Hey API', 1],
      'orval.config.mjs': ['### orval', 0],
      'orval-fetch.ts': ['### orval', 1],
      'orval.ts': ['### orval', 2],
    },
    packages,
  );
  const [heyApi, orval] = ['@hey-api/openapi-ts/bin/run.js', 'orval/dist/bin/orval.mjs'];
  await Promise.all([
    folder.run(join('node_modules', heyApi), '--file', 'hey-api.config.mjs'),
    folder.run(join('node_modules', orval), '--config', 'orval.config.mjs'),
  ]);
});
afterAll(() => folder.close());

test('the clients that Hey API and orval generate as in docs/clients.md compile strictly', async () => {
  expect(await folder.compile()).toBe('');
});

test.each(['hey-api.ts', 'orval.ts'])(
  '%s of docs/clients.md adds an animal with an exact id, reads all pages and gets the code of an error',
  async (name) => {
    await folder.expectTrial(name);
  },
);

test('Redocly reports no warning for the OpenAPI document', async () => {
  const linter = 'node_modules/@redocly/cli/bin/cli.js';
  const found = await folder.run(linter, 'lint', 'openapi.json', '--format', 'json');
  expect(JSON.parse(found)).toMatchObject({ totals: { errors: 0, warnings: 0 } });
});
