import { expect, test } from '@jest/globals';
import { loadConfig } from '../../../src/app/settings/config.ts';
import { deploysFolder, objectStoreIn } from '../../../src/app/settings/deploys-place.ts';

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
  const aws = { endpoint: undefined, region: undefined };
  expect(objectStoreIn(config)).toEqual({ bucket: 'zoo', prefix, ...aws });
});

test('another store than AWS needs no region', () => {
  const config = loadConfig({ DEPLOYS_URL: 's3://zoo', S3_ENDPOINT: 'https://s3.zoo.example' });
  const endpoint = 'https://s3.zoo.example/';
  const place = { bucket: 'zoo', prefix: '', endpoint };
  expect(objectStoreIn(config)).toEqual({ ...place, region: 'us-east-1' });
  expect(objectStoreIn({ ...config, s3Region: 'garage' })).toEqual({ ...place, region: 'garage' });
});
