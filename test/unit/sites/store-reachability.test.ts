import { expect, jest, test } from '@jest/globals';
import { Reachability, S3Failure } from '../../../src/adapters/storage/s3/s3-calls.ts';

const away = () => Promise.reject(new S3Failure('ECONNREFUSED', 'nobody listens'));
const answers = () => Promise.resolve('here');

const failed = async (times: number): Promise<Reachability> => {
  const store = new Reachability();
  for (let at = 0; at < times; at++) await store.during(away).catch(() => undefined);
  return store;
};

test('a store that failed once or twice is contacted as before', async () => {
  const store = await failed(2);
  expect(await Promise.all([store.during(answers), store.during(answers)])).toEqual([
    'here',
    'here',
  ]);
});

test('an answer cancels earlier failures', async () => {
  const store = await failed(2);
  await store.during(answers);
  for (let at = 0; at < 2; at++) await store.during(away).catch(() => undefined);
  expect(await store.during(answers)).toBe('here');
});

test('a refusal counts as an answer', async () => {
  const store = new Reachability();
  const denied = () => Promise.reject(new S3Failure('AccessDenied', 'no', 403));
  for (let at = 0; at < 5; at++) await store.during(denied).catch(() => undefined);
  expect(await store.during(answers)).toBe('here');
});

test('a store that is unavailable is contacted by one request at a time, and by all once it answers', async () => {
  jest.useFakeTimers();
  const store = await failed(3);
  jest.advanceTimersByTime(999);
  await expect(store.during(answers)).rejects.toHaveProperty('code', 'Away');
  const gate = Promise.withResolvers<string>();
  let asked = 0;
  const ask = () => {
    asked += 1;
    return gate.promise;
  };
  jest.advanceTimersByTime(1);
  const trial = store.during(ask);
  await expect(store.during(ask)).rejects.toHaveProperty('code', 'Away');
  gate.resolve('back');
  expect(await trial).toBe('back');
  expect(asked).toBe(1);
  expect(await Promise.all([store.during(ask), store.during(ask)])).toEqual(['back', 'back']);
  jest.useRealTimers();
});
