import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type Decision, type Transitions, DomainError } from '../../../src/kernel/decision.ts';
import {
  planDomainRenewal,
  postponeAttempt,
} from '../../../src/domains/domain/attachment/domain-certificate.ts';
import {
  customDomainTransitions,
  removeDomain,
  unchanged,
  type CustomDomain,
  type CustomDomainState,
} from '../../../src/domains/domain/attachment/custom-domain.ts';
import {
  recordCheck,
  askToVerify,
  reverify,
  verify,
} from '../../../src/domains/domain/attachment/checks.ts';
import { claimName, contestedBy } from '../../../src/domains/domain/attachment/contested-name.ts';
import { isReady, isServed } from '../../../src/domains/domain/attachment/serving.ts';
import type { DomainsEvent } from '../../../src/domains/domain/domains-event.ts';
import {
  added,
  after,
  badReport,
  begin,
  bring,
  day,
  fail,
  hour,
  report,
} from '../../support/domains/known-domains.ts';

const table: Transitions<CustomDomainState> = customDomainTransitions;

/** The name is proven, but leads elsewhere. */
const delegatedReport = (now: Date) => ({
  ...badReport(now),
  ownershipProven: true,
  mayIssue: ['authority.test'],
  validation: { delegated: true, method: 'dns-01' as const },
});

/** An action at some time, with clock jumps and late results of earlier attempts. */
interface Act {
  readonly kind: (typeof helpful | typeof hindering | typeof final)[number];
  readonly now: Date;
  readonly generationsLate: number;
  readonly isOther: boolean;
  readonly retryAt: Date | undefined;
  readonly jitter: number;
}

const helpful = ['check', 'check_delegated', 'order', 'issue'] as const;
const hindering = [
  ...(['ask', 'verify', 'check_in_vain', 'reverify', 'postpone', 'plan'] as const),
  ...(['challenge', 'caa', 'rejected_name', 'unavailable', 'rate_limited', 'order_gone'] as const),
];
const final = ['remove', 'contest'] as const;

const somewhen = fc.integer({ min: -2 * day, max: 40 * day }).map(after);

const act: fc.Arbitrary<Act> = fc.record({
  // Weighted so that most lives go live, and few end early.
  kind: fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...helpful) },
    { weight: 8, arbitrary: fc.constantFrom(...hindering) },
    { weight: 1, arbitrary: fc.constantFrom(...final) },
  ),
  now: somewhen,
  generationsLate: fc.constantFrom(0, 0, 0, 0, 0, 1),
  isOther: fc.constantFrom(false, false, false, false, false, true),
  retryAt: fc.option(somewhen, { nil: undefined }),
  jitter: fc.double({ min: -1, max: 1, noNaN: true }),
});

const claimant: CustomDomain = {
  ...recordCheck(added, report(after(0), { ownershipProven: true }), { now: after(0), jitter: 0 })
    .state,
  id: 'dom_2',
};

const windowAt = (start: Date) => ({
  start,
  end: new Date(start.getTime() + day),
  askAgainAt: start,
});

const decide = (domain: CustomDomain, step: Act): Decision<CustomDomain, DomainsEvent> => {
  const { now, kind, jitter, retryAt } = step;
  const moment = { now, jitter };
  const order = {
    ...domain,
    id: step.isOther ? 'dom_0' : domain.id,
    generation: domain.generation - step.generationsLate,
  };
  switch (kind) {
    case 'ask':
      return askToVerify(domain, now);
    case 'verify':
      return verify(domain, report(now), moment);
    case 'check':
      return recordCheck(domain, report(now), moment);
    case 'check_delegated':
      return claimName(recordCheck(domain, delegatedReport(now), moment), undefined, moment);
    case 'check_in_vain':
      return recordCheck(domain, badReport(now), moment);
    case 'reverify':
      return reverify(domain, now);
    case 'order':
      return begin(domain, now);
    case 'issue':
      return bring(domain, now, { order });
    case 'postpone':
      return unchanged(postponeAttempt(domain, retryAt ?? now));
    case 'plan':
      return planDomainRenewal(domain, { window: windowAt(retryAt ?? now), chance: 0.5 }, now);
    case 'remove':
      return removeDomain(domain, 'owner', now);
    case 'contest':
      return contestedBy(domain, claimant, now);
    case 'challenge':
    case 'caa':
    case 'rejected_name':
    case 'unavailable':
    case 'rate_limited':
    case 'order_gone':
      return fail(domain, kind, now, { order, retryAt });
  }
};

/** Refusals do not change the state of the domain. */
const resultOf = (domain: CustomDomain, step: Act): Decision<CustomDomain, DomainsEvent> => {
  try {
    return decide(domain, step);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return { state: domain, events: [] };
  }
};

const walk = (
  begin: CustomDomain,
  acts: readonly Act[],
  look: (before: CustomDomain, step: Act, then: Decision<CustomDomain, DomainsEvent>) => void,
): void => {
  let domain = begin;
  for (const step of acts) {
    const then = resultOf(domain, step);
    look(domain, step, then);
    domain = then.state;
  }
};

const life = fc.array(act, { minLength: 5, maxLength: 40, size: 'max' });

const enteredBy: Readonly<Partial<Record<DomainsEvent['type'], CustomDomainState>>> = {
  domain_verified: 'verified',
  domain_live: 'live',
  domain_removed: 'removed',
};

test('a domain that was added gets no certificate until its name is proven, and never goes live without one', () => {
  fc.assert(
    fc.property(life, (acts) => {
      let wasDelegated = false;
      walk(added, acts, (_, { kind }, { state }) => {
        wasDelegated ||= kind === 'check_delegated';
        if (state.state === 'added' && !wasDelegated) expect(state.certificate.kind).toBe('none');
        if (isServed(state)) expect(state.certificate.kind).toBe('issued');
        if (isReady(state)) expect(state.dns.report?.validation?.delegated).toBe(true);
      });
    }),
  );
});

test('all transitions are in the table, and each change of state has an event', () => {
  fc.assert(
    fc.property(life, (acts) => {
      walk(added, acts, ({ state: from }, _, { state: { state: to }, events }) => {
        // A step can enter several states, one after the other.
        const entered = events.flatMap(({ type }) => enteredBy[type] ?? []);
        expect([from, ...entered].at(-1)).toBe(to);
        for (const [at, next] of entered.entries())
          expect(table[entered[at - 1] ?? from]).toContain(next);
      });
    }),
  );
});

test('results for another attachment or an earlier order never change a domain', () => {
  fc.assert(
    fc.property(life, (acts) => {
      walk(added, acts, (domain, { now }) => {
        const wrong = [
          { ...domain, id: 'dom_0' },
          { ...domain, generation: domain.generation - 1 },
          { ...domain, generation: domain.generation + 1 },
        ];
        const outcomes = wrong.flatMap((order) => [
          bring(domain, now, { order }),
          fail(domain, 'challenge', now, { order }),
        ]);
        for (const { state, events, certificate } of outcomes)
          expect([state, events, certificate]).toEqual([domain, [], undefined]);
      });
    }),
    { numRuns: 50 },
  );
});

test('a domain that is not removed is checked again within little more than a day', () => {
  fc.assert(
    fc.property(life, (acts) => {
      walk(added, acts, (_, { kind, now }, { state }) => {
        const isRemoved = state.state === 'removed';
        expect(state.dns.nextCheckAt === undefined).toBe(isRemoved);
        if (isRemoved) return;
        if (!['check', 'check_in_vain', 'verify'].includes(kind)) return;
        if (state.dns.lastCheckedAt?.getTime() !== now.getTime()) return;
        const wait = state.dns.nextCheckAt!.getTime() - now.getTime();
        expect(wait).toBeGreaterThan(0);
        expect(wait).toBeLessThan(40 * hour);
      });
    }),
  );
});

test('events contain only ids, words and numbers', () => {
  fc.assert(
    fc.property(life, (acts) => {
      const told: DomainsEvent[] = [];
      walk(added, acts, (_, __, { events }) => void told.push(...events));
      const kinds = told.flatMap(({ occurredAt, ...event }) => {
        expect(occurredAt).toBeInstanceOf(Date);
        return Object.values(event).map((value) => typeof value);
      });
      expect(['string', 'number', 'boolean']).toEqual(expect.arrayContaining([...new Set(kinds)]));
    }),
  );
});
