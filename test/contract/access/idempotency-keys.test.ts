import { afterAll, beforeAll, beforeEach, expect, describe, test } from '@jest/globals';
import {
  idempotencyRetentionMs,
  type IdempotencyOutcome,
  type IdempotentRequest,
  type KeptAnswer,
} from '../../../src/access/ports.ts';
import { addPet } from '../../../src/catalogue/domain/pet.ts';
import { later, newAccount, now, takeEvents } from '../../support/accounts.ts';
import { race } from '../../support/race.ts';
import { refusal, refuse } from '../../support/refusal.ts';
import type { StoragePorts } from '../../support/storage-ports.ts';
import { describeStores, testOnBoth } from '../../support/store-contracts.ts';
import { openStores, type Stores } from '../../support/stores.ts';
import { databaseKinds } from '../../support/servers/databases.ts';

const everything = { after: 0n, limit: 1000 };
const done: KeptAnswer = { status: 201, headers: { Location: '/v1/pets/7' }, body: '{"id":7}' };
const mustNotRun = (): never => {
  throw new Error('the work was done again');
};

describeStores('idempotency keys', (stores) => {
  const { idempotencyKeys: keys } = stores;
  let account: string;
  let request: IdempotentRequest;
  beforeEach(async () => {
    account = await newAccount(stores);
    request = { accountId: account, key: 'a key', fingerprint: 'f'.repeat(64), now };
  });

  const answering = (answer: KeptAnswer) => () => Promise.resolve(structuredClone(answer));
  const addAnimal =
    ({ pets }: StoragePorts) =>
    async (): Promise<KeptAnswer> => {
      const draft = { name: 'Rex', categoryId: 7n, status: 'available' } as const;
      const { id } = await pets.add(account, draft, (its) => addPet(account, its, draft, now));
      return { ...done, body: `{"id":${String(id)}}` };
    };
  const kinds = (outcomes: readonly IdempotencyOutcome[]) => outcomes.map(({ kind }) => kind);

  test('a repeated request gets the first answer, and the work is not done again', async () => {
    const body = `{"name":"🐕\\u0000\\"'${'x'.repeat(70_000)}"}`;
    const answer = { status: 201, headers: { Location: '/v1/pets/7', 'X-Ä': 'ö' }, body };
    expect(await keys.once(request, answering(answer))).toEqual({ kind: 'answered', answer });
    for (const process of [stores, stores.secondProcess]) {
      const outcome = await process.idempotencyKeys.once(request, mustNotRun);
      expect(outcome).toEqual({ kind: 'replayed', answer });
    }
  });

  test('the stored answer is one part of the result; the caller gets all of it', async () => {
    const secret = { shown: ['once'] };
    const first = await keys.once(request, () => Promise.resolve({ ...done, secret }));
    expect(first).toEqual({ kind: 'answered', answer: { ...done, secret } });
    const again = await stores.secondProcess.idempotencyKeys.once(request, mustNotRun);
    expect(again).toEqual({ kind: 'replayed', answer: done });
  });

  test('a different request under the same key is refused and not executed', async () => {
    await keys.once(request, answering(done));
    const other = { ...request, fingerprint: 'e'.repeat(64) };
    expect(await keys.once(other, mustNotRun)).toEqual({ kind: 'reused' });
  });

  test('an answer can be replaced, or its key freed, unless another answer was stored meanwhile', async () => {
    await keys.once(request, answering(done));
    const second = stores.secondProcess.idempotencyKeys;
    const other = { ...done, body: '{"id":8}' };
    expect([
      await second.replace(request, done, undefined),
      await second.replace(request, done, other),
    ]).toEqual([true, false]);
    await keys.once(request, answering(done));
    expect([
      await keys.replace(request, done, other),
      await keys.replace(request, done, undefined),
    ]).toEqual([true, false]);
    expect(await keys.once(request, mustNotRun)).toEqual({ kind: 'replayed', answer: other });
  });

  testOnBoth(
    'keys that differ only in case or accents, and keys of two accounts, are different keys',
    async () => {
      const accountId = await newAccount(stores);
      const names = ['key', 'Key', 'kéy', 'ke\u0301y', '🔑'.repeat(255), '🔑'.repeat(254)];
      const requests = [...names.map((key) => ({ ...request, key })), { ...request, accountId }];
      for (const one of requests) {
        expect(await keys.once(one, answering(done))).toEqual({ kind: 'answered', answer: done });
      }
    },
  );

  test('a repeated request is refused while the first is under way', async () => {
    const begun = Promise.withResolvers<undefined>();
    const finish = Promise.withResolvers<KeptAnswer>();
    const first = keys.once(request, () => {
      begun.resolve(undefined);
      return finish.promise;
    });
    await begun.promise;
    const tooLate = { ...request, now: later(2 * idempotencyRetentionMs) };
    expect(await keys.once(request, mustNotRun)).toEqual({ kind: 'in_progress' });
    expect(await keys.once(tooLate, mustNotRun)).toEqual({ kind: 'in_progress' });
    finish.resolve(done);
    expect(await first).toEqual({ kind: 'answered', answer: done });
    expect(await keys.once(request, mustNotRun)).toEqual({ kind: 'replayed', answer: done });
  });

  testOnBoth(
    'a new request is counted once, even if its transaction runs twice; a repeated one is not counted',
    async () => {
      let [admitted, worked] = [0, 0];
      const admit = () => {
        admitted += 1;
        return Promise.resolve();
      };
      const conflicting = () => {
        worked += 1;
        if (worked > 2) return Promise.resolve(done);
        return Promise.reject(Object.assign(new Error('a deadlock'), { code: 'ER_LOCK_DEADLOCK' }));
      };
      expect(await keys.once(request, conflicting, admit)).toEqual({
        kind: 'answered',
        answer: done,
      });
      expect([admitted, worked]).toEqual([1, 3]);
      for (const process of [stores, stores.secondProcess]) {
        const again = await process.idempotencyKeys.once(request, mustNotRun, mustNotRun);
        expect(again).toEqual({ kind: 'replayed', answer: done });
      }
    },
  );

  test('a request that is not admitted does nothing and leaves the key free', async () => {
    await expect(keys.once(request, mustNotRun, refuse)).rejects.toBe(refusal);
    expect(await keys.once(request, answering(done))).toEqual({ kind: 'answered', answer: done });
  });

  test('work that throws frees the key', async () => {
    await expect(keys.once(request, () => Promise.reject(refusal))).rejects.toBe(refusal);
    await expect(keys.once(request, refuse)).rejects.toBe(refusal);
    expect(await keys.once(request, answering(done))).toEqual({ kind: 'answered', answer: done });
  });

  test('an answer is kept for 24 hours and forgotten afterwards', async () => {
    await keys.once(request, answering(done));
    const lastMoment = { ...request, now: later(idempotencyRetentionMs) };
    expect(await keys.once(lastMoment, mustNotRun)).toEqual({ kind: 'replayed', answer: done });
    const nextDay = { ...request, now: later(idempotencyRetentionMs + 1), fingerprint: 'new' };
    const answer = { ...done, body: 'new' };
    expect(await keys.once(nextDay, answering(answer))).toEqual({ kind: 'answered', answer });
    expect(await keys.once(nextDay, mustNotRun)).toEqual({ kind: 'replayed', answer });
  });

  testOnBoth('a sweep deletes the answers given before a time and counts them', async () => {
    await stores.retention.sweep('idempotency_keys', later(1e12));
    const younger = { ...request, key: 'younger', now: later(1) };
    for (const one of [request, younger]) await keys.once(one, answering(done));
    expect(await stores.retention.sweep('idempotency_keys', later(1))).toBe(1);
    expect(await stores.retention.sweep('idempotency_keys', later(1))).toBe(0);
    expect(kinds([await keys.once(younger, mustNotRun)])).toEqual(['replayed']);
    expect(kinds([await keys.once(request, answering(done))])).toEqual(['answered']);
  });

  testOnBoth(
    'when two processes each get twenty identical requests at once, one of them does the work',
    async () => {
      const processes = [stores, stores.secondProcess];
      const { won, lost } = await race(40, (n) => {
        const process = processes[n % 2] ?? stores;
        return process.idempotencyKeys.once(request, addAnimal(process));
      });
      expect(lost).toEqual([]);
      expect(kinds(won).filter((kind) => kind === 'answered')).toHaveLength(1);
      expect(['answered', 'in_progress', 'replayed']).toEqual(
        expect.arrayContaining([...new Set(kinds(won))]),
      );
      const answers = won.flatMap((one) => ('answer' in one ? [one.answer.body] : []));
      expect(new Set(answers).size).toBe(1);
      expect(await stores.pets.list(account, everything, undefined)).toHaveLength(1);
    },
  );
});

describe.each(databaseKinds)('idempotency keys over transactions of %s', (kind) => {
  let stores: Stores;
  beforeAll(async () => {
    stores = await openStores(kind);
  });
  afterAll(() => stores.close());

  test('work that throws stores nothing', async () => {
    const account = await newAccount(stores);
    const draft = { name: 'Rex', categoryId: 7n, status: 'available' } as const;
    const request = { accountId: account, key: 'k', fingerprint: 'f', now };
    const outcome = stores.idempotencyKeys.once(request, async () => {
      await stores.pets.add(account, draft, (id) => addPet(account, id, draft, now));
      throw refusal;
    });
    await expect(outcome).rejects.toBe(refusal);
    expect(await stores.pets.list(account, { after: 0n, limit: 10 }, undefined)).toEqual([]);
    expect(await takeEvents(stores)).toEqual([]);
  });
});
