import { beforeAll, beforeEach, expect } from '@jest/globals';
import {
  timelineKinds,
  type TimelineEntry,
} from '../../../src/domains/domain/attachment/timeline-entries.ts';
import type { Project } from '../../../src/sites/domain/project.ts';
import type { PlacedEntry } from '../../../src/domains/ports.ts';
import { later, takeEvents } from '../../support/accounts.ts';
import {
  contest,
  goLive,
  newDomain,
  record,
  remove,
  servedProject,
  verify,
} from '../../support/domains/custom-domains.ts';
import { race } from '../../support/race.ts';
import { describeStores, test, testOnBoth } from '../../support/store-contracts.ts';
import type { Stores } from '../../support/stores.ts';

describeStores('timelines', (stores) => {
  const { timeline } = stores;
  let project: Project;
  let domain: string;
  beforeAll(async () => {
    project = await servedProject(stores);
  });
  beforeEach(async () => {
    domain = await another();
  });

  const processes = () => [stores, stores.secondProcess] as const;
  /** A domain that has just been added, with its entry. */
  const another = async () => (await newDomain(stores, project)).id;
  const tell = (id: string, one: TimelineEntry, through: Pick<Stores, 'domains'> = stores) =>
    record(through, id, one);
  const entry = (draft: Partial<TimelineEntry> = {}): TimelineEntry => {
    return { kind: 'checked', occurredAt: later(0), details: {}, ...draft };
  };
  const withoutPlaces = (entries: readonly PlacedEntry[]): readonly TimelineEntry[] =>
    entries.map(({ place: _, ...rest }) => rest);
  const timesOf = (entries: readonly TimelineEntry[]) =>
    entries.map(({ occurredAt }) => occurredAt);

  testOnBoth(
    'the entries of a domain are listed newest first, by each process, without those of others',
    async () => {
      const all = timelineKinds.map((kind, at) => entry({ kind, occurredAt: later(at) }));
      for (const one of all) await tell(domain, one);
      await tell(await another(), entry());
      const added = entry({ kind: 'added' });
      for (const { timeline: reader } of processes())
        expect(withoutPlaces(await reader.list(domain, 100))).toEqual([...all.toReversed(), added]);
      expect(await timeline.list('dom_nobodys', 100)).toEqual([]);
    },
  );

  testOnBoth('the newest attempt is found even after many later checks', async () => {
    expect(await timeline.newestAttempt(domain)).toBeUndefined();
    for (const [at, kind] of (['attempt', 'attempt', 'checked', 'checked'] as const).entries())
      await tell(domain, entry({ kind, occurredAt: later(at) }));
    await tell(await another(), entry({ kind: 'attempt', occurredAt: later(9) }));
    expect(await timeline.newestAttempt(domain)).toMatchObject({ occurredAt: later(1) });
  });

  test('paging returns each entry once, even when new ones arrive meanwhile', async () => {
    const tellAt = (at: number) => tell(domain, entry({ occurredAt: later(at) }));
    const other = await another();
    for (let at = 1; at < 7; at++) {
      await tellAt(at);
      await tell(other, entry());
    }
    const read: PlacedEntry[] = [];
    for (let page = 0; page < 4; page++) {
      const { timeline: reader } = processes()[page % 2] ?? stores;
      read.push(...(await reader.list(domain, 3, read.at(-1)?.place)));
      await tellAt(100 + page);
    }
    expect(timesOf(read)).toEqual([6, 5, 4, 3, 2, 1, 0].map((at) => later(at)));
  });

  test('an entry keeps its position, even when an earlier page is deleted', async () => {
    for (const at of [-1e12, 1, 2, 3]) await tell(domain, entry({ occurredAt: later(at) }));
    const [newest, second, third, , added] = await timeline.list(domain, 100);
    await stores.retention.sweep('domain_timeline', later(-1e12 + 1));
    expect(await timeline.list(domain, 100, newest?.place)).toEqual([second, third, added]);
    expect(await timeline.list(domain, 100, third?.place)).toEqual([added]);
    expect(await timeline.list(domain, 100, 1n)).toEqual([]);
  });

  test('the newest entry is the last recorded one, even after the clock was set back', async () => {
    for (const at of [5, 9, 7]) await tell(domain, entry({ occurredAt: later(at) }));
    expect(timesOf(await timeline.list(domain, 2))).toEqual([later(7), later(9)]);
  });

  testOnBoth(
    'details are read back as JSON represents them: times become text, and undefined values are omitted',
    async () => {
      const details = {
        text: `'"\\ ü🐦 \u0000 \ud800`,
        long: 'x'.repeat(100_000),
        nested: [{ number: 1.5, yes: true, nothing: null, list: [] }],
      };
      const retryAt = new Date('2026-03-01T10:00:00.123Z');
      const wanted = { ...details, retryAt, gone: undefined };
      await tell(domain, entry({ details: wanted }));
      const [kept] = await stores.secondProcess.timeline.list(domain, 1);
      expect(kept?.details).toStrictEqual({ ...details, retryAt: '2026-03-01T10:00:00.123Z' });
    },
  );

  testOnBoth('entries that two processes record at once are all stored', async () => {
    const { lost } = await race(20, (n) =>
      tell(domain, entry({ occurredAt: later(n) }), processes()[n % 2]),
    );
    expect(lost).toEqual([]);
    const times = timesOf(await timeline.list(domain, 20)).map((time) => time.getTime());
    expect(times.toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 20 }, (_, n) => later(n).getTime()),
    );
  });

  test('a cleanup deletes entries of all domains from before a given time', async () => {
    const longAgo = (milliseconds: number) => later(milliseconds - 1e12);
    const other = await another();
    for (const id of [domain, other])
      for (const at of [1, 2, 3]) await tell(id, entry({ occurredAt: longAgo(at) }));
    expect(await stores.retention.sweep('domain_timeline', longAgo(3))).toBe(4);
    expect(await stores.retention.sweep('domain_timeline', longAgo(3))).toBe(0);
    for (const id of [domain, other])
      expect(timesOf(await timeline.list(id, 100))).toEqual([longAgo(3), later(0)]);
    expect(await stores.retention.sweep('domain_timeline', longAgo(4))).toBe(2);
  });

  const recordMany = async (kind: TimelineEntry['kind'], count: number, of = domain) => {
    const tellAt = (at: number) => tell(of, entry({ kind, occurredAt: later(at) }));
    const inOrder = 15;
    for (let at = 1; at <= Math.min(inOrder, count); at++) await tellAt(at);
    for (let at = inOrder + 1; at <= count - inOrder; at += 25) {
      const end = Math.min(at + 25, count - inOrder + 1);
      await Promise.all(Array.from({ length: end - at }, (_, n) => tellAt(at + n)));
    }
    for (let at = Math.max(inOrder, count - inOrder) + 1; at <= count; at++) await tellAt(at);
  };
  const countOf = async (of = domain) => {
    const all = await stores.secondProcess.timeline.list(of, 2000);
    return Object.fromEntries(
      [...Map.groupBy(all, ({ kind }) => kind)].map(([kind, of]) => [kind, of.length]),
    );
  };

  test('the newest 500 checks and 500 attempts stay, and entries of other kinds are not deleted for them', async () => {
    await recordMany('attempt', 3);
    await recordMany('verified', 1);
    const other = await another();
    await recordMany('checked', 1, other);
    await recordMany('checked', 503);
    expect(await countOf()).toEqual({ added: 1, attempt: 3, verified: 1, checked: 500 });
    const [newest, ...rest] = await timeline.list(domain, 500);
    expect([newest?.occurredAt, rest.at(-1)?.occurredAt]).toEqual([later(503), later(4)]);
    expect(await countOf(other)).toEqual({ added: 1, checked: 1 });
  });

  testOnBoth('for a removed domain, the newest 50 checks and attempts are kept', async () => {
    await recordMany('checked', 60);
    await recordMany('attempt', 51);
    await recordMany('renewed', 60);
    await recordMany('removed', 1);
    const others = { added: 1, removed: 1, renewed: 60 };
    expect(await countOf()).toEqual({ ...others, checked: 50, attempt: 50 });
    const all = await timeline.list(domain, 2000);
    const times = timesOf(all.filter(({ kind }) => kind === 'checked'));
    expect([times[0], times.at(-1)]).toEqual([later(60), later(11)]);
  });

  testOnBoth(
    'a sweep deletes any number of entries, but not the milestones of a domain',
    async () => {
      const longAgo = later(-1e12);
      for (const kind of timelineKinds) await tell(domain, entry({ kind, occurredAt: longAgo }));
      const others = [await another(), await another()];
      for (const other of others)
        for (let at = 0; at < 120; at++) await tell(other, entry({ occurredAt: longAgo }));
      expect(await stores.retention.sweep('domain_timeline', later(-1e12 + 1))).toBe(4 + 240);
      const left = (await timeline.list(domain, 100)).map(({ kind }) => kind);
      expect(left).toEqual(['removed', 'renewed', 'live', 'verified', 'added', 'added']);
      expect(await stores.retention.sweep('domain_timeline', later(-1e12 + 1))).toBe(0);
    },
  );

  test('changes of a domain, and of the domain that loses the name, are recorded after their cause', async () => {
    const { id, host } = await newDomain(stores, project);
    const claimant = await newDomain(stores, await servedProject(stores), { host });
    await stores.domains.change(id, verify);
    await stores.domains.change(id, goLive);
    const cause = entry({ occurredAt: later(1), details: { answers: [] } });
    await stores.domains.change(claimant.id, (domain, holder) => ({
      ...contest(domain, holder),
      cause,
    }));
    const told = async (of: string) => withoutPlaces(await timeline.list(of, 100)).toReversed();
    const added = entry({ kind: 'added' });
    const verified = entry({ kind: 'verified', occurredAt: later(1) });
    const live = (at: number) => entry({ kind: 'live', occurredAt: later(at) });
    expect(await told(claimant.id)).toEqual([added, cause, verified, live(1)]);
    expect(await told(id)).toEqual([
      ...[added, verified, live(3)],
      entry({ kind: 'removed', occurredAt: later(1), details: { reason: 'contested' } }),
    ]);
  });

  test('when the timeline cannot be written, nothing else of the change is stored', async () => {
    const { id } = await newDomain(stores, project);
    const before = await stores.domains.get(id);
    const { revision } = await stores.edgeRecords.changesSince(0n);
    // JSON cannot represent it.
    const cause = entry({ details: { number: 1n } });
    const changing = stores.domains.change(id, (domain) => ({ ...remove(domain), cause }));
    await expect(changing).rejects.toThrow(/BigInt/);
    expect(await stores.domains.get(id)).toEqual(before);
    expect((await timeline.list(id, 100)).map(({ kind }) => kind)).toEqual(['added']);
    expect(await takeEvents(stores)).toEqual([]);
    expect((await stores.edgeRecords.changesSince(0n)).revision).toBe(revision);
  });
});
