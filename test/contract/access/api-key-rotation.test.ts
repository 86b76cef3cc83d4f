import { beforeEach, expect } from '@jest/globals';
import { keyLimits, rotateApiKey, type ApiKey } from '../../../src/access/domain/api-key.ts';
import { UuidIds } from '../../../src/adapters/system/system-ports.ts';
import type { Overlap } from '../../../src/kernel/overlap.ts';
import { keyDecision, later, newAccount, takeEvents } from '../../support/accounts.ts';
import { race } from '../../support/race.ts';
import { refusal, refuse } from '../../support/refusal.ts';
import { describeStores, test, testOnBoth } from '../../support/store-contracts.ts';

const ids = new UuidIds();
const hour = 3_600_000;

describeStores('rotation of API keys', (stores) => {
  const { apiKeys } = stores;
  let account: string;
  let key: ApiKey;
  let first: string;
  beforeEach(async () => {
    account = await newAccount(stores);
    const decision = keyDecision(account);
    await apiKeys.add(decision);
    await takeEvents(stores);
    ({ key, secretHash: first } = decision.state);
  });

  const newHash = () => ids.next('').slice(1).padEnd(64, 'f');
  const hintOf = (hash: string) => `pets_live_…${hash.slice(8, 32)}`;
  const rotate = async (overlap: Overlap, at = later(0), adapter = apiKeys, id = key.id) => {
    const hash = newHash();
    const rotated = await adapter.rotate(id, hash, (its) =>
      rotateApiKey(its, hintOf(hash), overlap, at),
    );
    expect(rotated).toEqual({ ...key, hint: hintOf(hash) });
    return hash;
  };
  const untilOf = async (hash: string, adapter = apiKeys) =>
    (await adapter.findBySecretHash(hash))?.secretUntil;
  const kept = async () => (await apiKeys.list(account)).find(({ id }) => id === key.id);

  test('both secrets identify the key in every process, and the old one has an end date', async () => {
    expect(await apiKeys.findBySecretHash(first)).toMatchObject({ key, secretUntil: undefined });
    const second = await rotate('24h');
    const rotated = { ...key, hint: hintOf(second) };
    expect(await kept()).toEqual({ ...rotated, oldSecretsUntil: later(24 * hour) });
    for (const adapter of [apiKeys, stores.secondProcess.apiKeys]) {
      const [old, fresh] = [first, second].map((hash) => adapter.findBySecretHash(hash));
      expect(await old).toMatchObject({ key: rotated, secretUntil: later(24 * hour) });
      expect(await fresh).toMatchObject({ key: rotated, secretUntil: undefined });
    }
  });

  test('the list shows when the last old secret ends, for each key that has one', async () => {
    const listed = async (adapter = apiKeys) =>
      (await adapter.list(account)).find(({ id }) => id === key.id)?.oldSecretsUntil;
    expect(await listed()).toBeUndefined();
    await rotate('1h');
    expect(await listed(stores.secondProcess.apiKeys)).toEqual(later(hour));
    await rotate('24h');
    expect(await listed()).toEqual(later(24 * hour));
    await rotate('0', later(7));
    expect(await listed()).toEqual(later(7));
  });

  test('an overlap of zero ends the old secret at once', async () => {
    const second = await rotate('0', later(5));
    expect([await untilOf(first), await untilOf(second)]).toEqual([later(5), undefined]);
  });

  test('a second rotation keeps the earlier end of the first secret and ends the second', async () => {
    const second = await rotate('1h');
    const third = await rotate('7d', later(1000));
    const ends = [await untilOf(first), await untilOf(second), await untilOf(third)];
    expect(ends).toEqual([later(hour), later(7 * 24 * hour + 1000), undefined]);
  });

  test('a second rotation with a shorter overlap shortens the life of all older secrets', async () => {
    const second = await rotate('7d');
    await rotate('15m');
    const end = later(15 * 60_000);
    expect([await untilOf(first), await untilOf(second)]).toEqual([end, end]);
  });

  testOnBoth(
    'a key has at most ten secrets: an eleventh ends the one that would end first',
    async () => {
      const hashes = [first];
      for (let n = 1; n <= keyLimits.secrets + 2; n++) hashes.push(await rotate('7d', later(n)));
      const found = await Promise.all(hashes.map((hash) => apiKeys.findBySecretHash(hash)));
      const kept = hashes.filter((_, at) => found[at] !== undefined);
      expect(kept).toEqual(hashes.slice(-keyLimits.secrets));
    },
  );

  test('a rotation leaves other keys of the account alone', async () => {
    const other = keyDecision(account);
    await apiKeys.add(other);
    await rotate('0');
    const holder = await apiKeys.findBySecretHash(other.state.secretHash);
    expect(holder).toMatchObject({ key: other.state.key, secretUntil: undefined });
  });

  test('a rotation and its event are stored together', async () => {
    await rotate('1h', later(1));
    const oldSecretUntil = later(hour + 1).toISOString();
    const common = { accountId: account, keyId: key.id, occurredAt: later(1) };
    expect(await takeEvents(stores)).toEqual([
      { type: 'api_key_rotated', ...common, oldSecretUntil },
    ]);
  });

  test('a key that does not exist is not rotated', async () => {
    for (const unknown of ['key_nobody', key.id.toUpperCase()]) {
      const hash = newHash();
      const rotation = apiKeys.rotate(unknown, hash, refuse);
      await expect(rotation).rejects.toHaveProperty('code', 'api_key_not_found');
      expect(await apiKeys.findBySecretHash(hash)).toBeUndefined();
    }
  });

  test('a rotation that fails stores nothing', async () => {
    const hash = newHash();
    await expect(apiKeys.rotate(key.id, hash, refuse)).rejects.toBe(refusal);
    expect(await apiKeys.findBySecretHash(hash)).toBeUndefined();
    expect(await untilOf(first)).toBeUndefined();
    expect(await kept()).toEqual(key);
    expect(await takeEvents(stores)).toEqual([]);
  });

  testOnBoth(
    'nine concurrent rotations create nine secrets, and only the last one has no end date',
    async () => {
      const processes = [apiKeys, stores.secondProcess.apiKeys];
      const { won } = await race(9, (n) => rotate('1h', later(n), processes[n % 2]));
      const ends = await Promise.all(won.map((hash) => untilOf(hash)));
      const [newest, ...others] = won.filter((_, n) => ends[n] === undefined);
      expect(won).toHaveLength(9);
      expect(others).toEqual([]);
      expect(await kept()).toMatchObject({ ...key, hint: hintOf(newest ?? '') });
      const lives = ends.map((end) => end && end.getTime() - later(hour).getTime());
      for (const life of lives) expect(life === undefined || (life >= 0 && life < 20)).toBe(true);
      expect(await takeEvents(stores)).toHaveLength(9);
    },
  );
});
