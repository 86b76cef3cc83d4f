import { DomainError } from '../../kernel/domain-error.ts';
import type { CustomDomain, DomainDecision, Moment } from '../domain/custom-domain.ts';
import type { DnsFacts } from '../domain/dns-facts.ts';
import type { DnsExpectation, DnsReport } from '../domain/dns-report.ts';
import { shortened } from '../domain/shortened.ts';
import { contestedBy } from '../domain/domain-removal.ts';
import type { DomainChange } from '../domain/domain-change.ts';
import type { DomainPorts } from '../domain-ports.ts';
import { moment } from './moment.ts';

export type CheckPorts = Pick<
  DomainPorts,
  'domains' | 'dns' | 'judge' | 'authority' | 'naming' | 'platformAddresses' | 'clock' | 'chance'
>;

/** What a check decides; `recordCheck` and `verify` are such. */
export type CheckDecision = (
  domain: CustomDomain,
  report: DnsReport,
  moment: Moment,
) => DomainDecision;

/**
 * Asks the DNS now, judges the answers and decides. Whoever verifies a name with proof takes it from whoever held
 * it; without proof the holder keeps it.
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
    // Somebody proved the name in between: the same facts, judged as contested, end otherwise.
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

/** Only a step to `verified` touches the rival: all else leaves both as they are. */
const withRival = (
  decision: DomainDecision,
  rival: CustomDomain | undefined,
  now: Date,
): DomainChange =>
  rival && decision.state.state === 'verified'
    ? { ...decision, displaced: contestedBy(rival, decision.state, now) }
    : decision;

/** As much as one entry of a timeline holds of them; the domain itself has them all. */
const mostTold = { problems: 10, characters: 200 } as const;

const told = ({ problems, verifiable }: DnsReport) => ({
  verifiable,
  problems: problems.slice(0, mostTold.problems).map(({ code, seen, wanted }) => ({
    code,
    seen: shortened(seen, mostTold.characters),
    wanted: shortened(wanted, mostTold.characters),
  })),
});
