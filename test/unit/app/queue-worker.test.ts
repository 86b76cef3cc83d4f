import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, expect, jest, test } from '@jest/globals';
import { pino } from 'pino';
import { QueueWorker, type QueueKind } from '../../../src/adapters/schedule/queue-worker.ts';
import { Shared } from '../../../src/adapters/schedule/shares.ts';
import type { Claimed, Queue } from '../../../src/kernel/queue.ts';
import { later, now } from '../../support/accounts.ts';
import { holdTimeouts } from '../../support/held-timeouts.ts';
import { SettableClock } from '../../support/settable-clock.ts';
import { until } from '../../support/until.ts';

afterEach(() => {
  jest.useRealTimers();
});

interface Item extends Claimed {
  readonly name: string;
}

/** Claimed items are returned again at each later claim while `again` returns true. */
class ScriptedQueue implements Queue<Item> {
  waiting: string[];
  again: string[] = [];
  claims = 0;
  nextAt: Date | undefined;
  readonly told: unknown[] = [];

  constructor(...waiting: readonly string[]) {
    this.waiting = [...waiting];
  }

  claim(_now: Date, _until: Date, { limit }: { readonly limit: number }) {
    this.claims += 1;
    const given = [...this.again, ...this.waiting.splice(0, limit)];
    return Promise.resolve(
      given.map((name) => ({ id: name, claim: `claim_${String(this.claims)}`, name })),
    );
  }

  nextDueAt() {
    const isDue = this.waiting.length > 0 || this.again.length > 0;
    return Promise.resolve(isDue && this.claims < 9 ? new Date(0) : this.nextAt);
  }

  done(items: readonly Claimed[]) {
    this.told.push(['done', ...items.map(({ id, claim }) => `${id} ${claim}`)]);
    return Promise.resolve();
  }

  prolong(items: readonly Claimed[], leaseUntil: Date) {
    this.told.push(['prolonged', ...items.map(({ id }) => id), leaseUntil]);
    return Promise.resolve();
  }
}

const names = (count: number) => Array.from({ length: count }, (_, n) => `item_${String(n)}`);

const workerOver = (
  queue: ScriptedQueue,
  draft: Partial<QueueKind<Item>> = {},
  graceMs?: number,
) => {
  const seen: string[] = [];
  const logged: { readonly msg: string }[] = [];
  const log = pino({}, { write: (line) => void logged.push(JSON.parse(line) as never) });
  const kind: QueueKind<Item> = {
    what: 'items',
    queue,
    share: new Shared({ atOnce: 4 }),
    leaseMs: 60_000,
    work: ({ name }) => Promise.resolve(void seen.push(name)),
    afterFailure: () => Promise.resolve(),
    ...draft,
  };
  const worker = new QueueWorker(kind, { clock: new SettableClock(now), log, graceMs });
  const rung: string[] = [];
  worker.news.listen((when) => rung.push(when));
  return { worker, seen, rung, logged };
};

const held = () => {
  const begun: string[] = [];
  const ended: string[] = [];
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const work = async (item: Item) => {
    begun.push(item.name);
    await promise;
    ended.push(`${item.name} ${item.claim}`);
  };
  return { begun, ended, work, letGo: () => resolve(undefined) };
};

test('a burst is processed a limited number at a time, without waiting for the schedule', async () => {
  const queue = new ScriptedQueue(...names(30));
  let [running, most, done] = [0, 0, 0];
  const { worker, rung } = workerOver(queue, {
    work: async () => {
      most = Math.max(most, (running += 1));
      await nextTurn();
      running -= 1;
      done += 1;
    },
  });
  await worker.run();
  await until('all are done', () => done === 30);
  await worker.stop();
  expect(most).toBe(4);
  expect(rung).toEqual(Array(30).fill('soon'));
});

test('a finished item, even a failed one, starts the next run, and a run returns when the next item is due', async () => {
  const queue = new ScriptedQueue('one');
  queue.nextAt = later(90_000);
  const { worker, rung } = workerOver(queue, { work: () => Promise.reject(new Error('no')) });
  expect(await worker.run()).toEqual(later(90_000));
  await worker.stop();
  expect(rung).toEqual(['soon']);
});

test('a run without due items claims nothing, and returns when to check again', async () => {
  const queue = new ScriptedQueue();
  queue.nextAt = later(5);
  const { worker } = workerOver(queue);
  expect([await worker.run(), queue.claims]).toEqual([later(5), 0]);
});

test('an item under way is not started again when its lease expires, and ends under its new claim', async () => {
  const queue = new ScriptedQueue();
  queue.again = ['slow'];
  const { begun, ended, work, letGo } = held();
  const { worker } = workerOver(queue, { work });
  for (let run = 0; run < 3; run++) await worker.run();
  queue.again = [];
  letGo();
  await worker.stop();
  expect([begun, ended]).toEqual([['slow'], ['slow claim_3']]);
  expect(queue.told).toEqual([['done', 'slow claim_3']]);
});

test('leases are prolonged for as long as the work takes, and no longer', async () => {
  const queue = new ScriptedQueue('slow');
  const { work, letGo } = held();
  const { worker } = workerOver(queue, { work, leaseMs: 30 });
  await worker.run();
  await until('it is held for longer than a lease', () => queue.told.length >= 4);
  expect(queue.told).toEqual(queue.told.map(() => ['prolonged', 'slow', later(30)]));
  letGo();
  await worker.stop();
  const told = queue.told.length;
  jest.useFakeTimers();
  await jest.advanceTimersByTimeAsync(1000);
  expect(queue.told).toHaveLength(told);
});

test('each kind of item decides what happens after a failure, and a stop waits for that', async () => {
  const queue = new ScriptedQueue('one');
  const failed: string[] = [];
  const { worker } = workerOver(queue, {
    work: () => Promise.reject(new Error('on fire')),
    afterFailure: async ({ name }, error) => {
      await nextTurn();
      failed.push(`${name} ${String(error)}`);
    },
  });
  await worker.run();
  await worker.stop();
  expect([failed, queue.told]).toEqual([['one Error: on fire'], []]);
});

test('an item that takes too long fails, and one that hangs delays nothing else', async () => {
  const queue = new ScriptedQueue('hangs', ...names(20));
  const failed: unknown[] = [];
  const seen: string[] = [];
  const { worker } = workerOver(queue, {
    longest: { ms: 20, nameOf: ({ name }) => name },
    work: ({ name }) =>
      name === 'hangs' ? new Promise(() => undefined) : Promise.resolve(void seen.push(name)),
    afterFailure: (_item, error) => {
      failed.push((error as Error).message);
      return Promise.resolve();
    },
  });
  await worker.run();
  await until('the others are done', () => seen.length === 20);
  await until('it has failed', () => failed.length === 1);
  await worker.stop();
  expect(failed).toEqual(['hangs took longer than 20 ms']);
});

test('a stop claims no more, waits for items under way, and finally cancels them', async () => {
  const queue = new ScriptedQueue(...names(10));
  let broken = 0;
  const { worker } = workerOver(
    queue,
    {
      work: (_item, signal) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            broken += 1;
            resolve();
          });
        }),
    },
    5,
  );
  await worker.run();
  await worker.stop();
  expect([broken, queue.waiting.length]).toEqual([4, 6]);
  await worker.run();
  expect(queue.waiting).toHaveLength(6);
});

test('an item that waits for its turn in the process is released at a stop', async () => {
  const queue = new ScriptedQueue(...names(3));
  const turns: (() => Promise<void>)[] = [];
  const { worker, seen } = workerOver(queue, {
    inTurn: async (_item, begin) => {
      await new Promise<void>((resolve) => {
        turns.push(() => begin().then(resolve));
      });
    },
  });
  await worker.run();
  await turns[0]!();
  const stopping = worker.stop();
  await Promise.all(turns.slice(1).map((begin) => begin()));
  await stopping;
  expect(seen).toEqual(['item_0']);
  expect(queue.told).toEqual([
    ['done', 'item_0 claim_1'],
    ['done', 'item_1 claim_1', 'item_2 claim_1'],
  ]);
});

test('a run of batches ends with its work, and marks items that end together in one step', async () => {
  const queue = new ScriptedQueue(...names(25));
  const { worker, seen, rung } = workerOver(queue, {
    isInBatches: true,
    share: new Shared({ atOnce: 20 }),
  });
  const running = worker.run();
  await nextTurn();
  expect(seen).toHaveLength(10);
  await running;
  expect([seen, rung]).toEqual([names(25), []]);
  const together = queue.told.map((mark) => (mark as readonly unknown[]).length - 1);
  expect(Math.max(...together)).toBeGreaterThan(1);
  expect(together.reduce((sum, count) => sum + count, 0)).toBe(25);
});

test('a run of batches that could not mark items as done fails, but still does the rest', async () => {
  const queue = new ScriptedQueue('a', 'b', 'c');
  const away = new Error('away');
  jest.spyOn(queue, 'done').mockRejectedValueOnce(away);
  const { worker, seen } = workerOver(queue, {
    isInBatches: true,
    work: async ({ name }) => {
      if (name === 'c') for (let turn = 0; turn < 5; turn++) await nextTurn();
      seen.push(name);
    },
  });
  const run = worker.run();
  await expect(Promise.all([run, worker.stop()])).rejects.toBe(away);
  expect([seen, queue.told]).toEqual([['a', 'b', 'c'], [['done', 'c claim_1']]]);
});

// Tries every turn of the first run, because a call could be lost in any of them.
test.each([...Array(30).keys()])(
  'a run that is requested %d turns after another finds all due items',
  async (turns) => {
    const queue = new ScriptedQueue('first');
    const { worker, seen } = workerOver(queue, { isInBatches: true });
    const first = worker.run();
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    queue.waiting.push('second');
    await Promise.all([first, worker.run()]);
    expect(seen).toEqual(['first', 'second']);
  },
);

test('a claim that fails ends the run, and the next run works; a failed search after work is logged', async () => {
  const queue = new ScriptedQueue(...names(8));
  const away = new Error('away');
  const claim = jest.spyOn(queue, 'claim').mockRejectedValueOnce(away);
  const { worker, seen, logged } = workerOver(queue);
  await expect(worker.run()).rejects.toBe(away);
  const running = worker.run();
  claim.mockRestore();
  await running;
  jest.spyOn(queue, 'nextDueAt').mockRejectedValue(away);
  await until('it was searched for more', () => logged.length > 0);
  expect(logged[0]?.msg).toBe('search for items failed, will be retried');
  expect(seen.length).toBeGreaterThanOrEqual(4);
  await worker.stop();
});

test('a slow item gives its place to others', async () => {
  const queue = new ScriptedQueue(...names(3));
  const { begun, work, letGo } = held();
  const share = Object.assign(new Shared<Item>({ atOnce: 2 }), {
    yields: {
      afterMs: 1000,
      give: () => {
        share.end();
        return true;
      },
    },
  });
  jest.spyOn(share, 'end');
  const { worker } = workerOver(queue, { work, share });
  holdTimeouts();
  await worker.run();
  await jest.advanceTimersByTimeAsync(999);
  expect(begun).toHaveLength(2);
  await jest.advanceTimersByTimeAsync(1);
  expect(begun).toHaveLength(3);
  jest.useRealTimers();
  letGo();
  await worker.stop();
});

test('accounts take turns: the account whose last turn was most recent goes last', () => {
  const share = new Shared<string>({ atOnce: 3, refill: 2, accountOf: (account) => account });
  for (const account of ['a', 'b', 'a']) share.begin(account);
  expect([share.room(), share.isRoomy]).toEqual([undefined, false]);
  share.end();
  const room = share.room();
  expect([room?.wanted, share.isRoomy]).toEqual([{ limit: 1, lately: ['b', 'a'] }, false]);
  expect([room?.isMoreThan([]), room?.isMoreThan(['c'])]).toEqual([false, true]);
  share.end();
  expect(share.isRoomy).toBe(true);
});
