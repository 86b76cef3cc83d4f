import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { UuidIds } from '../../src/adapters/system/uuid-ids.ts';
import {
  timelineKinds,
  type PlacedEntry,
  type Timeline,
  type TimelineEntry,
} from '../../src/sites/domain-ports.ts';
import { later } from '../support/accounts.ts';
import { race } from '../support/race.ts';
import { scribble } from '../support/scribble.ts';
import type { Stores } from '../support/stores.ts';

const ids = new UuidIds();

export const timelineContract = (open: () => Promise<Stores>): void => {
  let stores: Stores;
  let timeline: Timeline;
  let domain: string;
  beforeAll(async () => {
    stores = await open();
    timeline = stores.timeline;
  });
  afterAll(() => stores.close());
  beforeEach(() => {
    domain = ids.next('dom');
  });

  const processes = () => [timeline, stores.secondProcess.timeline] as const;
  const entry = (draft: Partial<TimelineEntry> = {}): TimelineEntry => {
    return { kind: 'checked', occurredAt: later(0), details: {}, ...draft };
  };
  const withoutPlaces = (entries: readonly PlacedEntry[]): readonly TimelineEntry[] =>
    entries.map(({ place: _, ...rest }) => rest);
  const timesOf = (entries: readonly TimelineEntry[]) =>
    entries.map(({ occurredAt }) => occurredAt);

  test('what happened to a domain is listed newest first, by each process, and nothing of another', async () => {
    const all = timelineKinds.map((kind, at) => entry({ kind, occurredAt: later(at) }));
    for (const one of all) await timeline.record(domain, one);
    await timeline.record(ids.next('dom'), entry());
    for (const reader of processes())
      expect(withoutPlaces(await reader.list(domain, 100))).toEqual(all.toReversed());
    expect(await timeline.list('dom_nobodys', 100)).toEqual([]);
  });

  test('a reader goes on where a page ended, whatever comes in meanwhile, and gets each entry once', async () => {
    const record = (at: number) => timeline.record(domain, entry({ occurredAt: later(at) }));
    for (let at = 0; at < 7; at++) {
      await record(at);
      await timeline.record(ids.next('dom'), entry());
    }
    const read: PlacedEntry[] = [];
    for (let page = 0; page < 4; page++) {
      const reader = processes()[page % 2] ?? timeline;
      read.push(...(await reader.list(domain, 3, read.at(-1)?.place)));
      await record(100 + page);
    }
    expect(timesOf(read)).toEqual([6, 5, 4, 3, 2, 1, 0].map((at) => later(at)));
  });

  test('an entry keeps its place, also when a page of before is forgotten', async () => {
    for (const at of [-1e12, 1, 2, 3])
      await timeline.record(domain, entry({ occurredAt: later(at) }));
    const all = await timeline.list(domain, 100);
    await timeline.sweep(later(-1e12 + 1));
    expect(await timeline.list(domain, 100, all[0]?.place)).toEqual(all.slice(1, 3));
    expect(await timeline.list(domain, 100, all[2]?.place)).toEqual([]);
    expect(await timeline.list(domain, 100, 1n)).toEqual([]);
  });

  test('newest is what was recorded last, also when the clock was set back in between', async () => {
    for (const at of [5, 9, 7]) await timeline.record(domain, entry({ occurredAt: later(at) }));
    expect(timesOf(await timeline.list(domain, 2))).toEqual([later(7), later(9)]);
  });

  test('details are given back as JSON keeps them: times become text, and what is undefined is gone', async () => {
    const details = {
      text: `'"\\ ü🐦 \u0000 \ud800`,
      long: 'x'.repeat(100_000),
      nested: [{ number: 1.5, yes: true, nothing: null, list: [] }],
    };
    const retryAt = new Date('2026-03-01T10:00:00.123Z');
    const wanted = { ...details, retryAt, gone: undefined };
    await timeline.record(domain, entry({ details: wanted }));
    const [kept] = await stores.secondProcess.timeline.list(domain, 1);
    expect(kept?.details).toStrictEqual({ ...details, retryAt: '2026-03-01T10:00:00.123Z' });
  });

  test('what two processes record at once is all there', async () => {
    const { lost } = await race(20, (n) =>
      (processes()[n % 2] ?? timeline).record(domain, entry({ occurredAt: later(n) })),
    );
    expect(lost).toEqual([]);
    const times = timesOf(await timeline.list(domain, 100)).map((time) => time.getTime());
    expect(times.toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 20 }, (_, n) => later(n).getTime()),
    );
  });

  test('a sweep forgets what happened before a moment, of all domains', async () => {
    const longAgo = (milliseconds: number) => later(milliseconds - 1e12);
    const other = ids.next('dom');
    for (const id of [domain, other])
      for (const at of [1, 2, 3]) await timeline.record(id, entry({ occurredAt: longAgo(at) }));
    expect(await timeline.sweep(longAgo(3))).toBe(4);
    expect(await timeline.sweep(longAgo(3))).toBe(0);
    for (const id of [domain, other])
      expect(timesOf(await timeline.list(id, 100))).toEqual([longAgo(3)]);
    expect(await timeline.sweep(longAgo(4))).toBe(2);
  });

  const recordMany = async (kind: TimelineEntry['kind'], count: number, of = domain) => {
    const record = (at: number) => timeline.record(of, entry({ kind, occurredAt: later(at) }));
    const inOrder = 15;
    for (let at = 1; at <= Math.min(inOrder, count); at++) await record(at);
    for (let at = inOrder + 1; at <= count - inOrder; at += 25) {
      const end = Math.min(at + 25, count - inOrder + 1);
      await Promise.all(Array.from({ length: end - at }, (_, n) => record(at + n)));
    }
    for (let at = Math.max(inOrder, count - inOrder) + 1; at <= count; at++) await record(at);
  };
  const countOf = async (of = domain) => {
    const all = await stores.secondProcess.timeline.list(of, 2000);
    return Object.fromEntries(
      [...Map.groupBy(all, ({ kind }) => kind)].map(([kind, of]) => [kind, of.length]),
    );
  };

  test('of checks and of attempts the newest 500 stay, each by themselves, and no other kind goes for them', async () => {
    await recordMany('added', 1);
    await recordMany('attempt', 3);
    await recordMany('verified', 1);
    const other = ids.next('dom');
    await recordMany('checked', 1, other);
    await recordMany('checked', 503);
    expect(await countOf()).toEqual({ added: 1, attempt: 3, verified: 1, checked: 500 });
    const [newest, ...rest] = await timeline.list(domain, 500);
    expect([newest?.occurredAt, rest.at(-1)?.occurredAt]).toEqual([later(503), later(4)]);
    expect(await countOf(other)).toEqual({ checked: 1 });
  });

  test('once a domain is removed the newest 50 checks and attempts stay', async () => {
    await recordMany('checked', 60);
    await recordMany('attempt', 51);
    await recordMany('renewed', 60);
    await recordMany('removed', 1);
    expect(await countOf()).toEqual({ removed: 1, renewed: 60, checked: 50, attempt: 50 });
    const all = await timeline.list(domain, 2000);
    const times = timesOf(all.filter(({ kind }) => kind === 'checked'));
    expect([times[0], times.at(-1)]).toEqual([later(60), later(11)]);
  });

  test('a sweep forgets as many as there are, and leaves what tells the life of a domain', async () => {
    const longAgo = later(-1e12);
    for (const kind of timelineKinds)
      await timeline.record(domain, entry({ kind, occurredAt: longAgo }));
    const others = [ids.next('dom'), ids.next('dom')];
    for (const other of others)
      for (let at = 0; at < 120; at++) await timeline.record(other, entry({ occurredAt: longAgo }));
    expect(await timeline.sweep(later(-1e12 + 1))).toBe(2 + 240);
    const left = (await timeline.list(domain, 100)).map(({ kind }) => kind);
    expect(left).toEqual(['removed', 'renewed', 'live', 'verified', 'added']);
    expect(await timeline.sweep(later(-1e12 + 1))).toBe(0);
  });

  test('callers cannot reach into storage through what they gave or got', async () => {
    const given = entry({ details: { problems: [{ code: 'cname_missing' }] } });
    const kept: TimelineEntry = structuredClone(given);
    await timeline.record(domain, given);
    for (const held of [given, await timeline.list(domain, 1)]) scribble(held);
    expect(withoutPlaces(await timeline.list(domain, 1))).toEqual([kept]);
  });
};
