import { describe, expect, test } from '@jest/globals';
import type { Transitions } from '../../../src/kernel/decision.ts';
import {
  planDomainRenewal,
  postponeAttempt,
} from '../../../src/domains/domain/attachment/domain-certificate.ts';
import {
  addDomain,
  becomeVerified,
  customDomainStates,
  customDomainTransitions,
  removeDomain,
  type CustomDomain,
  type CustomDomainState,
} from '../../../src/domains/domain/attachment/custom-domain.ts';
import { planAllowances } from '../../../src/sites/domain/project.ts';
import {
  recordCheck,
  askToVerify,
  reverify,
  verify,
} from '../../../src/domains/domain/attachment/checks.ts';
import { contestedBy } from '../../../src/domains/domain/attachment/contested-name.ts';
import {
  added,
  admitted,
  after,
  allowance,
  badReport,
  begin,
  bring,
  day,
  draft,
  fail,
  hour,
  inEachState,
  live,
  minute,
  moment,
  removed,
  report,
  start,
  validity,
  verified,
} from '../../support/domains/known-domains.ts';

const table: Transitions<CustomDomainState> = customDomainTransitions;
const now = after(2 * hour);
const proven = report(now, { ownershipRequired: true, ownershipProven: true });
const claimant = recordCheck({ ...added, id: 'dom_2', accountId: 'acct_2' }, proven, moment(now));

type Outcome = CustomDomainState | 'refused';
type Command = readonly [
  name: string,
  run: (domain: CustomDomain) => { readonly state: CustomDomain },
  /** For the states added, verified, live, removed. */
  outcomes: readonly [Outcome, Outcome, Outcome, Outcome],
];

const quiet = ['added', 'verified', 'live', 'removed'] as const;

/** Every command, and the next state from each state. */
const commands: readonly Command[] = [
  ['ask to verify', (it) => askToVerify(it, now), ['added', 'verified', 'live', 'refused']],
  [
    'verify',
    (it) => verify(it, report(now), moment(now)),
    ['verified', 'verified', 'live', 'refused'],
  ],
  [
    'verify unsuccessfully',
    (it) => verify(it, badReport(now), moment(now)),
    ['added', 'verified', 'live', 'refused'],
  ],
  [
    'check',
    (it) => recordCheck(it, report(now), moment(now)),
    ['verified', 'verified', 'live', 'removed'],
  ],
  ['check unsuccessfully', (it) => recordCheck(it, badReport(now), moment(now)), quiet],
  [
    'check unsuccessfully after 30 days',
    (it) => recordCheck(it, badReport(after(30 * day)), moment(after(30 * day))),
    ['removed', 'verified', 'live', 'removed'],
  ],
  [
    'become verified',
    (it) => becomeVerified(it, now),
    ['verified', 'refused', 'refused', 'refused'],
  ],
  ['re-verify', (it) => reverify(it, now), ['refused', 'verified', 'refused', 'refused']],
  ['begin an order', (it) => begin(it, now), quiet],
  ['certify', (it) => certified(it), ['added', 'live', 'live', 'removed']],
  ['certify without an order', (it) => bring(it, now, validity), quiet],
  ['fail to certify', (it) => fail(it, 'challenge', now), quiet],
  ['postpone', (it) => ({ state: postponeAttempt(it, now) }), quiet],
  ['plan the renewal', (it) => planDomainRenewal(it, { window: undefined, chance: 0 }, now), quiet],
  ['remove', (it) => removeDomain(it, 'owner', now), ['removed', 'removed', 'removed', 'removed']],
  [
    'contest',
    (it) => contestedBy(it, claimant.state, now),
    ['added', 'removed', 'removed', 'removed'],
  ],
];

const certified = (domain: CustomDomain) => {
  const { state } = begin(domain, now);
  return bring(state, now, { notAfter: after(120 * day) });
};

const outcomeOf = (run: () => { readonly state: CustomDomain }): Outcome => {
  try {
    return run().state.state;
  } catch (error) {
    expect(error).toMatchObject({ name: 'DomainError', code: 'domain_wrong_state' });
    return 'refused';
  }
};

const walk = commands.flatMap(([name, run, outcomes]) =>
  inEachState.map((domain, at) => ({ name, run, domain, from: domain.state, to: outcomes[at]! })),
);

test.each(walk)('to $name a domain that is $from: $to', ({ run, domain, from, to }) => {
  const before = structuredClone(domain);
  expect(outcomeOf(() => run(domain))).toBe(to);
  expect(to === 'refused' || to === from || table[from].includes(to)).toBe(true);
  expect(domain).toEqual(before);
});

test('every transition of the table is tested, and there are four states', () => {
  expect(customDomainStates).toEqual(['added', 'verified', 'live', 'removed']);
  for (const from of customDomainStates) {
    const reached = walk.filter((step) => step.from === from).map(({ to }) => to);
    expect(reached).toEqual(expect.arrayContaining([...table[from]]));
  }
});

test('each state has only its own facts', () => {
  const own = {
    added: [],
    verified: ['verifiedAt'],
    live: ['liveSince', 'verifiedAt'],
    removed: ['reason', 'removedAt'],
  };
  const shared = Object.keys(added);
  for (const domain of inEachState) {
    expect(Object.keys(domain).sort()).toEqual([...shared, ...own[domain.state]].sort());
  }
});

describe('adding a domain', () => {
  test('plans its first check in a minute and requests nothing', () => {
    const { state, events } = addDomain(draft, admitted, moment(start));
    expect(state).toMatchObject({
      state: 'added',
      host: 'shop.example.com',
      token: 't1',
      generation: 0,
    });
    expect(state.dns).toMatchObject({ report: undefined, nextCheckAt: after(minute) });
    expect(state.certificate).toEqual({ kind: 'none' });
    const domain = { projectId: 'proj_1', domainId: 'dom_1', host: 'shop.example.com' };
    expect(events).toEqual([
      { type: 'domain_added', accountId: 'acct_1', occurredAt: start, ...domain },
    ]);
  });

  test('reports at once if another account has proven the name', () => {
    const { events } = addDomain(
      draft,
      { ...admitted, provenElsewhere: 'shop.example.com' },
      moment(start),
    );
    expect(events).toMatchObject([
      { type: 'domain_added' },
      { type: 'domain_contested', domainId: 'dom_1', host: 'shop.example.com' },
    ]);
  });

  test.each([
    [
      'plan_upgrade_required',
      { allowance: { ...allowance, domains: 0 }, hasSucceededDeploy: false },
    ],
    ['no_successful_deploy', { hasSucceededDeploy: false }],
    [
      'domain_taken',
      { attachedTo: { name: 'Birds', isThisOne: true, isDeleted: false }, current: 5 },
    ],
    ['domain_limit_reached', { current: 5 }],
    ['domain_limit_reached', { current: 9 }],
    ['domains_added_too_fast', { addedLately: Array<Date>(1000).fill(after(-59 * minute)) }],
    ['domains_added_too_fast', { addedLately: Array<Date>(1000).fill(after(minute)) }],
  ])('is refused with %s', (code, known) => {
    const adding = () => addDomain(draft, { ...admitted, ...known }, moment(start));
    expect(adding).toThrow(expect.objectContaining({ name: 'DomainError', code }));
  });

  test.each([
    [true, 'shop.example.com is in the list of this project already.'],
    [
      false,
      'Your project "Birds" has shop.example.com already. Remove it there before you add it here.',
    ],
  ])(
    'is refused when a project has the name, and the message says which one (this one: %s)',
    (isThisOne, message) => {
      const known = { ...admitted, attachedTo: { name: 'Birds', isThisOne, isDeleted: false } };
      expect(() => addDomain(draft, known, moment(start))).toThrow(
        expect.objectContaining({ message }),
      );
    },
  );

  test('is possible up to the limit of the plan', () => {
    const { free, pro, business } = planAllowances;
    expect([free.domains, pro.domains, business.domains]).toEqual([0, 5, 25]);
    const last = { ...admitted, allowance: pro, current: pro.domains - 1 };
    expect(addDomain(draft, last, moment(start)).state.state).toBe('added');
  });

  test.each(['free', 'pro', 'business'] as const)(
    'as a wildcard needs the plan Business or above: %s',
    (plan) => {
      const allowance = { ...planAllowances[plan], domains: 5, domainsAddedPerHour: 5 };
      const hostname = { ...draft.hostname, host: '*.shop.example.com', labels: '*.shop' };
      const add = () =>
        addDomain({ ...draft, hostname }, { ...admitted, allowance }, moment(start));
      if (plan === 'business') expect(add().state.host).toBe('*.shop.example.com');
      else
        expect(add).toThrow(
          expect.objectContaining({
            code: 'plan_upgrade_required',
            message: expect.stringContaining('plan Business or above'),
          }),
        );
    },
  );

  test('is possible again an hour after the limit was reached', () => {
    const addedLately = Array<Date>(1000).fill(after(-60 * minute));
    const { state } = addDomain(draft, { ...admitted, addedLately }, moment(start));
    expect(state.state).toBe('added');
  });
});

describe('removing a domain', () => {
  test('leaves no certificate, order or check', () => {
    const { state, events } = removeDomain(live, 'owner', now);
    expect(state).toMatchObject({ state: 'removed', removedAt: now, reason: 'owner' });
    expect(state.dns.nextCheckAt).toBeUndefined();
    expect(state.certificate).toEqual({ kind: 'none' });
    expect(events).toMatchObject([{ type: 'domain_removed', host: live.host, reason: 'owner' }]);
  });

  test('twice is not an error and keeps the first reason', () => {
    expect(removeDomain(removed, 'contested', now)).toEqual({ state: removed, events: [] });
  });
});

describe('a name that another account proves', () => {
  test('is taken from its holder', () => {
    for (const holder of [verified, live]) {
      const { state, events } = contestedBy(holder, claimant.state, now);
      expect(state).toMatchObject({ state: 'removed', reason: 'contested' });
      expect(events).toMatchObject([{ accountId: 'acct_1', reason: 'contested' }]);
    }
  });

  test('stays with its holder while the proof is missing', () => {
    const unproven = recordCheck({ ...added, id: 'dom_2' }, report(now), moment(now)).state;
    for (const rival of [unproven, { ...added, id: 'dom_2' }, removed]) {
      const contesting = () => contestedBy({ ...live, id: 'dom_9' }, rival, now);
      expect(contesting).toThrow(expect.objectContaining({ code: 'domain_taken' }));
    }
  });

  test.each([
    ['shop.example.com', 'the TXT record'],
    ['*.shop.example.com', 'the CNAME record of _acme-challenge.shop.example.com'],
  ])('is refused for %s with a message that asks for %s', (host, proof) => {
    const holder = { ...live, id: 'dom_9', host, unicodeHost: host };
    expect(() => contestedBy(holder, { ...added, host }, now)).toThrow(
      `${host} is in use. Create ${proof} to prove that it is yours.`,
    );
  });

  test('is not taken from the same domain, and neither is another name', () => {
    expect(contestedBy(claimant.state, claimant.state, now).events).toEqual([]);
    const other = { ...live, host: 'other.example.com' };
    expect(contestedBy(other, claimant.state, now)).toEqual({ state: other, events: [] });
  });
});
