import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { checkObjectStore } from '../../../src/app/doctor/check-storage.ts';
import {
  startObjectStore,
  type ObjectStore,
  type StoreRequest,
} from '../../support/servers/object-store.ts';

let store: ObjectStore;
beforeAll(async () => {
  store = await startObjectStore();
});
afterAll(() => store.stop());

const check = (settings: { readonly deploysUrl?: string; readonly s3Endpoint?: string } = {}) => {
  const { DEPLOYS_URL: deploysUrl, S3_ENDPOINT: s3Endpoint } = store.settings;
  return checkObjectStore({ dataDir: 'var', deploysUrl, s3Endpoint, ...settings });
};

test('a working store passes the check, and nothing is left in it', async () => {
  const seen = `${store.settings['DEPLOYS_URL'] ?? ''} can be written, read, listed and cleaned.`;
  expect(await check()).toEqual([{ state: 'ok', seen }]);
  expect(await store.keys()).toEqual([]);
  expect(await store.unfinished()).toEqual([]);
});

test('the check does nothing without an object store', async () => {
  expect(
    await checkObjectStore({ dataDir: 'var', deploysUrl: undefined, s3Endpoint: undefined }),
  ).toEqual([]);
});

const denied = (isIt: (request: StoreRequest) => boolean): void => {
  store.fault = (request) => (isIt(request) ? 'denied' : undefined);
};

test.each([
  ['written', 's3:PutObject', ({ method }: StoreRequest) => method === 'PUT'],
  ['read', 's3:GetObject', ({ method, key }: StoreRequest) => method === 'GET' && key !== ''],
  ['listed', 's3:ListBucket', ({ query }: StoreRequest) => query.startsWith('?prefix')],
  ['cleaned', 's3:DeleteObject', ({ method }: StoreRequest) => method === 'DELETE'],
  [
    'searched for unfinished uploads',
    's3:ListBucketMultipartUploads',
    ({ method, query }: StoreRequest) => method === 'GET' && query.endsWith('uploads='),
  ],
  [
    'cleaned of unfinished uploads',
    's3:AbortMultipartUpload',
    ({ method, query }: StoreRequest) => method === 'DELETE' && query.includes('uploadId='),
  ],
])('a store that may not be %s names the missing permission', async (done, permission, isIt) => {
  denied(isIt);
  const [finding, ...others] = await check();
  store.fault = () => undefined;
  expect(finding).toMatchObject({
    state: 'failed',
    seen: expect.stringContaining(`cannot be ${done}: AccessDenied`) as unknown,
    advice: `Allow these credentials ${permission} there.`,
  });
  expect(others).toEqual([]);
});

test('the errors for a missing bucket, wrong credentials and a silent address differ', async () => {
  const advice = async (...args: Parameters<typeof check>) => (await check(...args))[0]?.advice;
  expect(await advice({ deploysUrl: 's3://elsewhere' })).toContain('Create the bucket');
  expect(await advice({ s3Endpoint: 'http://127.0.0.1:1' })).toContain('S3_ENDPOINT');
  const { AWS_ACCESS_KEY_ID: id = '', AWS_SECRET_ACCESS_KEY: secret = '' } = process.env;
  process.env['AWS_SECRET_ACCESS_KEY'] = 'wrong';
  expect(await advice()).toContain('Correct AWS_ACCESS_KEY_ID');
  process.env['AWS_ACCESS_KEY_ID'] = 'stranger';
  expect(await advice()).toContain('Correct AWS_ACCESS_KEY_ID');
  delete process.env['AWS_ACCESS_KEY_ID'];
  Object.assign(process.env, {
    AWS_EC2_METADATA_DISABLED: 'true',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    AWS_CONFIG_FILE: '/dev/null',
  });
  expect(await advice()).toContain('give the machine a role');
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret });
});
