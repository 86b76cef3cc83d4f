import { DomainError } from '../../kernel/domain-error.ts';
import type { Moment } from '../domain/attachment/check-schedule.ts';
import type { CustomDomain, DomainDecision } from '../domain/attachment/custom-domain.ts';
import type { DnsFacts } from '../domain/dns/facts.ts';
import type { DnsExpectation, DnsReport } from '../domain/dns/report.ts';
import { shortened } from '../domain/dns/shortened.ts';
import { contestedBy } from '../domain/attachment/contested-name.ts';
import type { DomainChange } from '../domain/attachment/change.ts';
import type { DomainPorts } from '../ports.ts';
import { moment } from './moment.ts';

export type CheckPorts = Pick<
  DomainPorts,
  'domains' | 'dns' | 'judge' | 'authority' | 'naming' | 'platformAddresses' | 'clock' | 'chance'
>;

/** Decides on the outcome of a check: `recordCheck` or `verify`. */
export type CheckDecision = (
  domain: CustomDomain,
  report: DnsReport,
  moment: Moment,
) => DomainDecision;

/**
 * Looks up the DNS now, judges the answers and decides. A domain that proves ownership takes the name from its holder;
 * without proof the holder keeps it.
 * @throws DomainError `domain_not_found`; whatever `decide` throws
 */
export const checkDomain =
  (ports: CheckPorts) =>
  async (domain: CustomDomain, decide: CheckDecision): Promise<CustomDomain> =>
    decideOn(ports, domain, { decide, facts: await ports.dns.inspect(domain.host) });

const decideOn = async (
  ports: CheckPorts,
  domain: CustomDomain,
  its: { readonly decide: CheckDecision; readonly facts: DnsFacts },
): Promise<CustomDomain> => {
  const { domains, judge } = ports;
  const { checkedAt } = its.facts;
  const holder = await domains.holderOf(domain.host);
  const isContested = holder !== undefined && holder.id !== domain.id;
  const expectation = await expectationOf(ports, domain, isContested);
  const { report, answers } = await judge.judge(its.facts, expectation);
  const details = { ...told(report), answers };
  const cause = { kind: 'checked', occurredAt: checkedAt, details } as const;
  try {
    const { state } = await domains.change(domain.id, (current, rival) => {
      const decision = its.decide(current, report, moment(ports));
      return { ...withRival(decision, rival, checkedAt), cause };
    });
    return state;
  } catch (error) {
    // Another account proved the name in between: judge the same facts again, as contested.
    if (isContested || !isTaken(error)) throw error;
    return decideOn(ports, domain, its);
  }
};

const isTaken = (error: unknown): boolean =>
  error instanceof DomainError && error.code === 'domain_taken';

const expectationOf = async (
  { authority, naming, platformAddresses }: CheckPorts,
  { token, isApex }: CustomDomain,
  isContested: boolean,
): Promise<DnsExpectation> => ({
  token,
  platformHost: naming.platformHost,
  platformAddresses,
  isApex,
  isContested,
  caa: { issuers: authority.issuers, accountUri: await authority.accountUri(), method: 'http-01' },
});

/** Only a step to `verified` affects the rival. */
const withRival = (
  decision: DomainDecision,
  rival: CustomDomain | undefined,
  now: Date,
): DomainChange =>
  rival && decision.state.state === 'verified'
    ? { ...decision, displaced: contestedBy(rival, decision.state, now) }
    : decision;

/** Limits for one timeline entry; the domain itself keeps all problems. */
const mostTold = { problems: 10, characters: 200 } as const;

const told = ({ problems, verifiable }: DnsReport) => ({
  verifiable,
  problems: problems.slice(0, mostTold.problems).map(({ code, seen, wanted }) => ({
    code,
    seen: shortened(seen, mostTold.characters),
    wanted: shortened(wanted, mostTold.characters),
  })),
});
