import {
  claimName,
  consequencesOf,
  eventsOf,
} from '../../../src/domains/domain/attachment/contested-name.ts';
import { removeDomain, unchanged } from '../../../src/domains/domain/attachment/custom-domain.ts';
import {
  type Certified,
  provenAt,
} from '../../../src/domains/domain/attachment/domain-certificate.ts';
import type { PlacedEntry, Timeline } from '../../../src/domains/ports.ts';
import { readTimeline, readWholeTimeline } from '../../../src/domains/use-cases/show-domain.ts';
import {
  added,
  after,
  hour,
  live,
  moment,
  report,
  verified,
} from '../../support/domains/known-domains.ts';
import { expect, test } from '@jest/globals';

const domain = { id: 'dom_1' };
const filled = (entries: number): { timeline: Timeline } => {
  const newestFirst = numbers(entries).map((n): PlacedEntry => ({
    place: BigInt(n),
    kind: 'checked',
    occurredAt: after(n),
    details: { n },
  }));
  const list = (_: string, limit: number, before = BigInt(entries)) =>
    Promise.resolve(newestFirst.filter(({ place }) => place < before).slice(0, limit));
  return { timeline: { list, newestAttempt: () => Promise.resolve(undefined) } };
};
const numbers = (from: number) => Array.from({ length: from }, (_, n) => from - 1 - n);

test.each([0, 1, 20, 21, 40, 147])('all of %i entries are read page by page', async (entries) => {
  const ports = filled(entries);
  const found: unknown[] = [];
  let pages = 0;
  for (let before: bigint | undefined; ; pages++) {
    const page = await readTimeline(ports)(domain, before);
    expect(page.entries.length).toBeLessThanOrEqual(20);
    found.push(...page.entries.map(({ details }) => details['n']));
    if (page.older === undefined) break;
    before = page.older;
  }
  expect(found).toEqual(numbers(entries));
  // No page except the only one is empty.
  expect(pages).toBe(Math.max(0, Math.ceil(entries / 20) - 1));
});

test('the whole timeline is read, even when it is longer than a page', async () => {
  const whole = await readWholeTimeline(filled(147))(domain);
  expect(whole.map(({ details }) => details['n'])).toEqual(numbers(147));
});

const now = after(hour);
const other = { id: 'dom_2', accountId: 'acct_2', projectId: 'proj_2' };
const waiting = { ...added, ...other };
const proof = { ...verified, ...other, dns: { report: report(now, { ownershipProven: true }) } };
const takeOver = claimName(unchanged(proof as Certified), live, moment(now));

test('a domain that does not change has no consequences', () => {
  expect(consequencesOf(live, undefined, unchanged(live))).toEqual({
    moves: [{ from: live, to: live, events: [] }],
    proven: undefined,
    projects: [],
    withoutOrders: [],
    withoutShares: [],
    uncertified: undefined,
  });
});

test('a proof takes the name and its certificate from the holder, whose orders and links end', () => {
  const { moves, ...consequences } = consequencesOf(waiting, live, takeOver);
  expect(moves.map(({ from, to }) => [from.id, to.state])).toEqual([
    [live.id, 'removed'],
    [other.id, 'live'],
  ]);
  expect(consequences).toEqual({
    proven: takeOver.state,
    projects: [live.projectId, other.projectId],
    withoutOrders: [live.id],
    withoutShares: [live.id],
    uncertified: undefined,
  });
});

test('the certificate of a removed domain is deleted too', () => {
  const consequences = consequencesOf(live, undefined, removeDomain(live, 'owner', now));
  expect(consequences).toMatchObject({ uncertified: live.host, projects: [live.projectId] });
});

test("a removed domain that never held the name does not affect the holder's certificate", () => {
  const { uncertified } = consequencesOf(waiting, live, removeDomain(waiting, 'owner', now));
  expect(uncertified).toBeUndefined();
});

test('a name that is already proven has no further consequences when it is proven again', () => {
  expect(consequencesOf(proof as Certified, undefined, unchanged(live)).proven).toBeUndefined();
});

test('the events of the former holder come first', () => {
  const consequences = consequencesOf(waiting, live, takeOver);
  const [first, ...others] = eventsOf(consequences, []);
  expect(first).toMatchObject({ type: 'domain_removed', domainId: live.id });
  expect(others).toEqual(takeOver.events);
});

test('rival claimants are told that their name was proven, and by which wildcard', () => {
  const wildcard = { ...live, host: '*.example.com' } as Certified;
  const [same, below] = eventsOf({ moves: [], proven: wildcard }, [
    { ...waiting, host: '*.example.com' },
    { ...waiting, host: 'shop.example.com' },
  ]);
  const told = { type: 'domain_contested', accountId: 'acct_2', occurredAt: provenAt(wildcard) };
  expect(same).toMatchObject({ ...told, host: '*.example.com' });
  expect(same).not.toHaveProperty('wildcard');
  expect(below).toMatchObject({ ...told, host: 'shop.example.com', wildcard: '*.example.com' });
});
