import { afterAll, beforeAll, beforeEach, expect } from '@jest/globals';
import type { NotificationsEvent } from '../../../src/notifications/domain/notifications-event.ts';
import type { Look } from '../../../src/notifications/domain/look.ts';
import type { Memory } from '../../../src/notifications/domain/memory.ts';
import type { DueWatch, Watches } from '../../../src/notifications/ports.ts';
import { later, newAccount, takeEvents } from '../../support/accounts.ts';
import { race } from '../../support/race.ts';
import { scribble } from '../../support/scribble.ts';
import { test, testOnBoth } from '../../support/store-contracts.ts';
import type { Stores } from '../../support/stores.ts';

const memories: readonly Memory[] = [
  { kind: 'domain', overSince: undefined, straying: undefined, failing: undefined },
  {
    ...{ kind: 'domain', overSince: later(1) },
    straying: { since: later(2), isTold: true },
    failing: { toldAt: later(3), notBefore: later(4) },
  },
  {
    ...{ kind: 'domain', overSince: undefined, straying: undefined },
    failing: { toldAt: later(3), notBefore: undefined },
  },
  { kind: 'quota', resetsAt: later(5), told: 'reached' },
  { kind: 'removal', step: 30 },
];

export const watchesContract = (open: () => Promise<Stores>): void => {
  let stores: Stores;
  let watches: Watches;
  let accountId: string;
  let subject: string;
  let next = 0;
  beforeAll(async () => {
    stores = await open();
    watches = stores.watches;
    accountId = await newAccount(stores);
  });
  afterAll(() => stores.close());
  beforeEach(async () => {
    subject = `domain:dom_${String((next += 1)).padStart(3, '0')}`;
    await takeEvents(stores);
  });

  const told = (used = 80): NotificationsEvent => ({
    ...{ type: 'quota_nearly_used', accountId, occurredAt: later(0) },
    ...{ used, limit: 100, resetsAt: later(5).toISOString() },
  });
  const look = (draft: Partial<Look<Memory>> = {}): Look<Memory> => ({
    ...{ memory: memories[0]!, events: [], lookAt: undefined },
    ...draft,
  });

  testOnBoth.each(memories)('the memory %j comes back as it was', async (memory) => {
    expect(await watches.get(subject)).toBeUndefined();
    expect(await watches.save(subject, undefined, look({ memory }))).toBe(true);
    expect((await watches.get(subject))?.memory).toEqual(memory);
  });

  test('memory and events are stored together, or not at all if another look was stored first', async () => {
    await watches.save(subject, undefined, look({ events: [told()] }));
    expect(await takeEvents(stores)).toEqual([told()]);
    const first = await watches.get(subject);
    expect(await watches.save(subject, first!.version, look({ memory: memories[1]! }))).toBe(true);
    const late = look({ memory: memories[2]!, events: [told()] });
    expect(await watches.save(subject, first!.version, late)).toBe(false);
    expect(await watches.save(subject, undefined, late)).toBe(false);
    expect((await watches.get(subject))?.memory).toEqual(memories[1]);
    expect(await takeEvents(stores)).toEqual([]);
  });

  testOnBoth.each([
    ['of something new', false],
    ['of something known', true],
  ])('of twenty looks at once %s, one is stored', async (_, isKnown) => {
    if (isKnown) await watches.save(subject, undefined, look());
    const since = (await watches.get(subject))?.version;
    const { won } = await race(20, (n) => {
      const { watches: some } = n % 2 === 0 ? stores : stores.secondProcess;
      return some.save(subject, since, look({ events: [told(n)] }));
    });
    expect(won.toSorted()).toEqual([...Array<boolean>(19).fill(false), true]);
    expect(await takeEvents(stores)).toHaveLength(1);
  });

  testOnBoth('what is due is found in order, a page at a time', async () => {
    const at = later(1e9);
    const subjects = ['a', 'b', 'c', 'd', 'e'].map((letter) => `domain:due_${letter}`);
    for (const [n, one] of subjects.entries()) {
      const lookAt = [at, new Date(at.getTime() - 1), later(2e9), undefined, at][n];
      await watches.save(one, undefined, look({ lookAt }));
    }
    const [second, first] = [at, new Date(at.getTime() - 1)].map((lookAt, n) => {
      return { subject: subjects[n], lookAt };
    }) as [DueWatch, DueWatch];
    const third = { subject: subjects[4]!, lookAt: at };
    expect(await watches.due(at, 10)).toEqual([first, second, third]);
    expect(await watches.due(at, 1)).toEqual([first]);
    expect(await watches.due(at, 1, first)).toEqual([second]);
    expect(await watches.due(at, 10, second)).toEqual([third]);
    expect(await watches.due(at, 10, third)).toEqual([]);
    for (const one of subjects) await watches.forget(one, (await watches.get(one))!.version);
  });

  testOnBoth('the time of the first look is known', async () => {
    const [early, late] = [later(-2e9), later(-1e9)];
    await watches.save(subject, undefined, look({ lookAt: late }));
    await watches.save(`${subject}-early`, undefined, look({ lookAt: early }));
    expect(await watches.nextDueAt()).toEqual(early);
    await watches.forget(`${subject}-early`, (await watches.get(`${subject}-early`))!.version);
    expect(await watches.nextDueAt()).toEqual(late);
    await watches.forget(subject, (await watches.get(subject))!.version);
  });

  test('a watch is forgotten only if no other look was stored meanwhile', async () => {
    await watches.save(subject, undefined, look());
    const { version } = (await watches.get(subject))!;
    await watches.save(subject, version, look());
    await watches.forget(subject, version);
    const kept = await watches.get(subject);
    expect(kept).toBeDefined();
    await watches.forget(subject, kept!.version);
    expect(await watches.get(subject)).toBeUndefined();
  });

  test('stored memories do not change when callers change their copies', async () => {
    const mine = look({ memory: structuredClone(memories[1]!) });
    await watches.save(subject, undefined, mine);
    scribble(mine);
    scribble(await watches.get(subject));
    expect((await watches.get(subject))?.memory).toEqual(memories[1]);
  });
};
