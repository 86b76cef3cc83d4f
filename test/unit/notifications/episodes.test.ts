import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { lookAtDomain, type DomainMemory } from '../../../src/notifications/domain/domain-watch.ts';
import { later, now } from '../../support/accounts.ts';
import { astray, day, hour, minute, watchedDomain } from '../../support/watched-domain.ts';

const runs = { numRuns: 300 };

/** What a look may find, and how long after the last one. */
const findings = fc.array(
  fc.record({
    afterMinutes: fc.oneof(fc.integer({ min: 0, max: 90 }), fc.integer({ min: 0, max: 6000 })),
    isAstray: fc.boolean(),
    failed: fc.integer({ min: 0, max: 5 }),
    isRenewed: fc.boolean(),
    isAttached: fc.integer({ min: 0, max: 19 }).map((one) => one > 0),
  }),
  { maxLength: 60 },
);
type Finding = typeof findings extends fc.Arbitrary<readonly (infer One)[]> ? One : never;

interface Story {
  readonly at: Date;
  readonly isAttached: boolean;
  readonly isAstray: boolean;
  readonly events: readonly string[];
}

/** Looks whenever something is found, and whenever a look was planned before that. */
const storyOf = (found: readonly Finding[]): readonly Story[] => {
  const story: Story[] = [];
  let memory: DomainMemory | undefined;
  let [elapsed, notAfter, isAttached] = [0, 90 * day, true];
  for (const { afterMinutes, isAstray, failed, isRenewed, ...then } of found) {
    elapsed += afterMinutes * minute;
    isAttached &&= then.isAttached;
    if (isRenewed) notAfter = elapsed + 90 * day;
    const validity = { notBefore: later(notAfter - 90 * day), notAfter: later(notAfter) };
    const at = later(elapsed);
    const domain = watchedDomain({
      isAttached,
      dns: { checkedAt: at, astray: isAstray ? astray : undefined },
      certificate: { failed, validity, trouble: undefined },
    });
    const look = lookAtDomain(memory, domain, at);
    ({ memory } = look);
    story.push({ at, isAttached, isAstray, events: look.events.map(({ type }) => type) });
  }
  return story;
};

const toldIn = (story: readonly Story[], ...types: readonly string[]): readonly string[] =>
  story.flatMap(({ events }) => events.filter((type) => types.includes(type)));

test('a domain is told to lead elsewhere once for each time, and each time ends with its recovery', () => {
  const [found, recovered] = ['domain_unhealthy', 'domain_recovered'];
  fc.assert(
    fc.property(findings, (all) => {
      const story = storyOf(all);
      const told = toldIn(story, found, recovered);
      expect(told.every((type, n) => type === (n % 2 === 0 ? found : recovered))).toBe(true);
      const last = story.at(-1);
      if (last?.isAttached === true && !last.isAstray) expect(told.length % 2).toBe(0);
    }),
    runs,
  );
});

test('nothing is told of a domain that led elsewhere for less than an hour', () => {
  fc.assert(
    fc.property(findings, (all) => {
      const story = storyOf(all);
      for (const [n, { at, events }] of story.entries()) {
        if (!events.includes('domain_unhealthy')) continue;
        const begin = story.slice(0, n).findLastIndex(({ isAstray }) => !isAstray) + 1;
        const since = story[begin]!.at.getTime();
        expect(at.getTime() - since).toBeGreaterThanOrEqual(hour);
      }
    }),
    runs,
  );
});

test('a failing certificate is told at most every third day, and recovers only if it was told to fail', () => {
  fc.assert(
    fc.property(findings, (all) => {
      const story = storyOf(all);
      let [open, toldAt] = [false, -Infinity];
      for (const { at, events } of story) {
        if (events.includes('certificate_failing')) {
          if (open) expect(at.getTime() - toldAt).toBeGreaterThanOrEqual(3 * day);
          [open, toldAt] = [true, at.getTime()];
        }
        if (events.includes('certificate_recovered')) {
          expect(open).toBe(true);
          open = false;
        }
      }
    }),
    runs,
  );
});

test('nothing is ever told of a removed domain', () => {
  fc.assert(
    fc.property(findings, (all) => {
      const after = storyOf(all).filter(({ isAttached }) => !isAttached);
      expect(after.flatMap(({ events }) => events)).toEqual([]);
    }),
    runs,
  );
});

test('a look is never planned for a time that is over', () => {
  fc.assert(
    fc.property(findings, (all) => {
      let memory: DomainMemory | undefined;
      let elapsed = 0;
      for (const { afterMinutes, isAstray, failed } of all) {
        elapsed += afterMinutes * minute;
        const dns = { checkedAt: now, astray: isAstray ? astray : undefined };
        const domain = watchedDomain({ dns, certificate: { failed } });
        const look = lookAtDomain(memory, domain, later(elapsed));
        ({ memory } = look);
        if (look.lookAt) expect(look.lookAt.getTime()).toBeGreaterThan(later(elapsed).getTime());
      }
    }),
    runs,
  );
});
