import { expect, test } from '@jest/globals';
import { BridgedDomains } from '../../../src/app/watched-domains.ts';
import { recordCheck } from '../../../src/domains/domain/attachment/checks.ts';
import type { CustomDomain } from '../../../src/domains/domain/attachment/custom-domain.ts';
import { lookAtDomain, type DomainMemory } from '../../../src/notifications/domain/domain-watch.ts';
import {
  after,
  badReport,
  day,
  hour,
  live,
  minute,
  report,
} from '../../support/domains/known-domains.ts';

/** A domain that has been live for long, with checks and looks at their times. */
const storyOf = (jitter: number, breaksAt: Date, isRightFrom?: Date) => {
  const told: { readonly type: string; readonly at: Date }[] = [];
  let domain: CustomDomain = live;
  let memory: DomainMemory | undefined;
  let lookAt: Date | undefined;
  const domains = new BridgedDomains({ get: () => Promise.resolve(domain) });
  const check = (now: Date): boolean => {
    const isAstray = now >= breaksAt && !(isRightFrom && now >= isRightFrom);
    const reported = isAstray ? badReport(now) : report(now);
    const { state, events } = recordCheck(domain, reported, { now, jitter });
    domain = state;
    return events.length > 0;
  };
  const look = async (now: Date): Promise<void> => {
    const seen = (await domains.find(domain.id))!;
    const { memory: kept, events, lookAt: next } = lookAtDomain(memory, seen, now);
    [memory, lookAt] = [kept, next];
    told.push(...events.map(({ type }) => ({ type, at: now })));
  };
  return async (): Promise<typeof told> => {
    check(after(20 * day));
    for (let now = domain.dns.nextCheckAt!; now < after(22 * day);) {
      const isNews = now >= domain.dns.nextCheckAt! && check(now);
      if (isNews || (lookAt && now >= lookAt)) await look(now);
      now = [domain.dns.nextCheckAt!, ...(lookAt ? [lookAt] : [])].toSorted(
        (one, other) => one.getTime() - other.getTime(),
      )[0]!;
    }
    return told.filter(({ type }) => type.startsWith('domain_'));
  };
};

test.each([-1, 0, 1])(
  'the owner of a live domain hears within about two hours that it leads elsewhere, never before an hour (jitter %d)',
  async (jitter) => {
    for (let minutes = 0; minutes < 66; minutes += 1) {
      const breaksAt = after(20 * day + 5 * hour + minutes * minute);
      const [told, ...others] = await storyOf(jitter, breaksAt)();
      expect(others).toEqual([]);
      expect(told?.type).toBe('domain_found_unhealthy');
      const waited = (told!.at.getTime() - breaksAt.getTime()) / minute;
      expect(waited).toBeGreaterThanOrEqual(60);
      expect(waited).toBeLessThanOrEqual(66 + 60 + 5);
    }
  },
);

test('what is right again within the hour is not told', async () => {
  const breaksAt = after(20 * day + 5 * hour);
  expect(await storyOf(0, breaksAt, after(20 * day + 5 * hour + 50 * minute))()).toEqual([]);
});
