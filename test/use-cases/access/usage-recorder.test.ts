import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { AnsweredRequest, HourOfUsage, UsageLog } from '../../../src/access/ports.ts';
import { UsageRecorder } from '../../../src/adapters/metering/usage-recorder.ts';
import { storesOfTests } from '../../support/stores-of-tests.ts';
import { Unavailable } from '../../../src/kernel/ports.ts';

const ten = new Date('2026-03-01T10:00:00Z');
const at = (milliseconds: number) => new Date(ten.getTime() + milliseconds);
const [minute, hour] = [60_000, 3_600_000];
const away = new Unavailable('The database', undefined);

const open = storesOfTests();
let usage: UsageLog;
let recorder: UsageRecorder;
let add: jest.SpiedFunction<UsageLog['add']>;
let stored: () => readonly (readonly [string, Date])[];
beforeEach(async () => {
  ({ usage } = await open());
  add = jest.spyOn(usage, 'add');
  recorder = new UsageRecorder(usage);
  stored = () => add.mock.calls.flatMap(([, lastUsed]) => [...lastUsed]);
});

const place = { accountId: 'acct_1', keyId: 'key_1', operation: 'listPets' };
const record = (draft: Partial<AnsweredRequest> = {}, milliseconds = 0) =>
  recorder.record({ ...place, status: 200, at: at(milliseconds), ...draft });
const used = (draft: Partial<HourOfUsage> = {}): HourOfUsage => {
  return { ...place, outcome: '2xx', hour: ten, requests: 1, ...draft };
};
const listed = () => usage.list('acct_1', at(-hour));

describe('the usage of an hour', () => {
  test('is summed by key, operation and outcome and stored in one step', async () => {
    for (let n = 0; n < 3; n++) record();
    record({ keyId: 'key_2' });
    record({ operation: 'getPet' });
    record({ accountId: 'acct_2', keyId: 'key_3' });
    expect(await listed()).toEqual([]);
    await recorder.flush();
    expect(await listed()).toEqual([
      used({ operation: 'getPet' }),
      used({ requests: 3 }),
      used({ keyId: 'key_2' }),
    ]);
    expect(await usage.list('acct_2', ten)).toHaveLength(1);
    expect(add).toHaveBeenCalledTimes(1);
  });

  test('groups statuses by class, and counts 429 as refused', async () => {
    const statuses = [200, 201, 204, 301, 304, 400, 404, 422, 428, 429, 429, 430, 499, 500, 503];
    for (const status of statuses) record({ status });
    await recorder.flush();
    const sums = (await listed()).map(({ outcome, requests }) => [outcome, requests]);
    const expected = { '2xx': 3, '3xx': 2, '4xx': 6, refused: 2, '5xx': 2 };
    expect(Object.fromEntries(sums)).toEqual(expected);
  });

  test('begins on the UTC hour and ends a millisecond before the next', async () => {
    for (const moment of [-1, 0, hour - 1, hour]) record({}, moment);
    await recorder.flush();
    const sums = (await listed()).map((one) => [one.hour, one.requests]);
    expect(sums).toEqual([
      [at(-hour), 1],
      [ten, 2],
      [at(hour), 1],
    ]);
  });

  test('is stored only once, and only if something was used', async () => {
    await recorder.flush();
    record();
    await recorder.flush();
    await recorder.flush();
    expect(add).toHaveBeenCalledTimes(1);
    record();
    await recorder.flush();
    expect(await listed()).toEqual([used({ requests: 2 })]);
  });

  test('is not lost when it cannot be stored, and neither is later usage', async () => {
    record();
    record({ operation: 'getPet' }, 5);
    add.mockRejectedValueOnce(away);
    const flush = recorder.flush();
    record({}, 7);
    await expect(flush).rejects.toBe(away);
    expect(await listed()).toEqual([]);
    record({ keyId: 'key_2' }, 9);
    await recorder.flush();
    const sums = [used({ operation: 'getPet' }), used({ requests: 2 }), used({ keyId: 'key_2' })];
    expect(await listed()).toEqual(sums);
  });
});

describe('the last use of a key', () => {
  test('is stored at most once a minute, separately for each key', async () => {
    for (const moment of [0, 5000, minute - 1, minute, minute + 5000]) {
      record({}, moment);
      if (moment === 5000) record({ keyId: 'key_2' }, moment);
      await recorder.flush();
    }
    expect(stored()).toEqual([
      ['key_1', at(0)],
      ['key_2', at(5000)],
      ['key_1', at(minute)],
    ]);
  });

  test('is the latest of the collected times', async () => {
    for (const moment of [0, 10, 20]) record({}, moment);
    await recorder.flush();
    expect(stored()).toEqual([['key_1', at(20)]]);
  });

  test('is still stored once a minute after the clock jumped back or forward', async () => {
    for (const moment of [0, -hour, 5000 - hour, minute - hour, hour, hour + 5000]) {
      record({}, moment);
      await recorder.flush();
    }
    const moments = stored().map(([, moment]) => moment);
    expect(moments).toEqual([at(0), at(-hour), at(minute - hour), at(hour)]);
  });

  test('is stored the next time after a failure, with the latest value', async () => {
    record({}, 0);
    record({ keyId: 'key_2' }, 0);
    add.mockRejectedValueOnce(away);
    const flush = recorder.flush();
    record({}, 10);
    await expect(flush).rejects.toBe(away);
    await recorder.flush();
    expect(new Map(stored().slice(-2))).toEqual(
      new Map([
        ['key_1', at(10)],
        ['key_2', at(0)],
      ]),
    );
  });
});

test('the first request after usage was stored triggers the next save', async () => {
  let rung = 0;
  recorder.news.listen(() => (rung += 1));
  record();
  record();
  await recorder.flush();
  expect(rung).toBe(1);
  record();
  expect(rung).toBe(2);
});
