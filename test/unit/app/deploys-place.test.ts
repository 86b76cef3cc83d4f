import { expect, test } from '@jest/globals';
import { loadConfig } from '../../../src/app/settings/config.ts';
import { deploysFolder, objectStoreIn } from '../../../src/app/settings/addresses.ts';

test('deploys are in a folder, unless an object store is set', () => {
  const config = loadConfig({ DATA_DIR: '/srv/zoo' });
  expect(objectStoreIn(config)).toBeUndefined();
  expect(deploysFolder(config)).toBe('/srv/zoo/deploys');
});

test.each([
  ['s3://zoo', ''],
  ['s3://zoo/', ''],
  ['s3://zoo/live', 'live/'],
  ['s3://zoo/live/sites/', 'live/sites/'],
])('%s stands for the keys that begin with "%s"', (DEPLOYS_URL, prefix) => {
  const config = loadConfig({ DEPLOYS_URL });
  expect(objectStoreIn(config)).toEqual({ bucket: 'zoo', prefix, endpoint: undefined });
});
