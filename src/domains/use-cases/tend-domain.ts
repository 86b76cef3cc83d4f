import { domainAfter, workOf } from '../domain/attachment/domain-certificate.ts';
import { recordCheck, askToVerify, reverify, verify } from '../domain/attachment/checks.ts';
import {
  unchanged,
  type CustomDomain,
  type Moment,
  type DomainDecision,
} from '../domain/attachment/custom-domain.ts';
import { dueWork, hasNews } from '../domain/attachment/due-work.ts';
import type { DomainPorts, CustomDomains } from '../ports.ts';
import { workOnCertificate, type Applicant, type CertificatePorts } from './work-on-certificate.ts';
import type { CertificateAuthority } from '../certificate-ports.ts';
import { claimName, isContested } from '../domain/attachment/contested-name.ts';
import { isAttached } from '../domain/attachment/serving.ts';
import type { CaaPolicy } from '../domain/dns/caa.ts';
import { type DnsFacts, shortened } from '../domain/dns/facts.ts';
import { judgementOn } from '../domain/dns/judgement.ts';
import type { DnsExpectation, DnsReport } from '../domain/dns/report.ts';
import { methodsFor } from '../domain/dns/validation.ts';
import { isWildcard } from '../domain/names/hostname.ts';
import { authoritiesOf, type AuthorityPorts } from './advance-order.ts';
import { DomainError } from '../../kernel/decision.ts';

type TendPorts = CheckPorts & CertificatePorts & Pick<DomainPorts, 'timeline'>;

export const tendDomain = (ports: TendPorts) => {
  const check = checkDomain(ports);
  const certify = certifyDomain(ports);
  const tend = async (found: CustomDomain): Promise<void> => {
    const domain = await told(ports, found);
    switch (dueWork(domain, ports.clock.now())) {
      case 'certificate':
        return certify(domain);
      case 'check': {
        const checked = await check(domain, recordCheck);
        if (dueWork(checked, ports.clock.now()) === 'certificate') await certify(checked);
        return;
      }
      case undefined:
    }
  };
  return tend;
};

export const certifyDomain =
  (ports: TendPorts) =>
  async (domain: CustomDomain): Promise<void> => {
    const work = workOf(domain);
    if (work) await workOnCertificate(ports, applicantFor(ports, domain))(work);
  };

const applicantFor = (ports: TendPorts, domain: CustomDomain): Applicant => {
  const { domains, timeline, clock } = ports;
  const { id } = domain;
  return {
    find: async () => {
      const current = await domains.get(id);
      return current && workOf(current);
    },
    change: async (command) => {
      const now = clock.now();
      const { state, outcome } = await domains.change(id, (one) =>
        domainAfter(one, command(workOf(one)), now),
      );
      return { work: workOf(state), outcome };
    },
    changeCounted: async (authority, command) => {
      const now = clock.now();
      const told = (await timeline.newestAttempt(id))?.details['budget'];
      const { state, outcome } = await domains.changeCounted(id, { authority, now }, (one, use) =>
        toldOnce(domainAfter(one, command(workOf(one), use), now), told),
      );
      return { work: workOf(state), outcome };
    },
    // Checks DNS and CAA first, which costs no request to the authority.
    prepare: async () => {
      const checked = await checkDomain(ports)(domain, recordCheck);
      return dueWork(checked, clock.now()) === 'certificate' ? workOf(checked) : undefined;
    },
  };
};

/** Domains that wait for a budget retry often, so the timeline records only changes of the budget. */
const toldOnce = (change: ReturnType<typeof domainAfter>, told: unknown) =>
  change.outcome.kind === 'held_up' && change.outcome.hold.reason === told
    ? { ...change, cause: undefined }
    : change;

/** Notifies the owner first, so that failing work does not delay it. */
const told = async (
  { domains, clock }: Pick<TendPorts, 'domains' | 'clock'>,
  domain: CustomDomain,
): Promise<CustomDomain> => {
  if (!hasNews(domain, clock.now())) return domain;
  return (await domains.change(domain.id, unchanged)).state;
};

export const moment = ({ clock, chance }: Pick<DomainPorts, 'clock' | 'chance'>): Moment => ({
  now: clock.now(),
  jitter: 2 * chance() - 1,
});

/** The token of the wildcard in the same project that shares the challenge name and has no other proof. */
export const sharedTokenOf = async (
  domains: Pick<CustomDomains, 'find'>,
  { host, projectId }: CustomDomain,
): Promise<string | undefined> => {
  const wildcard = isWildcard(host) ? undefined : await domains.find(projectId, `*.${host}`);
  return wildcard && isAttached(wildcard) ? wildcard.token : undefined;
};

type CheckPorts = Pick<
  DomainPorts,
  'domains' | 'dns' | 'naming' | 'platformAddresses' | 'clock' | 'chance'
> &
  AuthorityPorts;

type CheckDecision = (domain: CustomDomain, report: DnsReport, moment: Moment) => DomainDecision;

export const checkDomain =
  (ports: CheckPorts) =>
  async (domain: CustomDomain, decide: CheckDecision): Promise<CustomDomain> =>
    decideOn(ports, domain, { decide, facts: await ports.dns.inspect(domain.host) });

const decideOn = async (
  ports: CheckPorts,
  domain: CustomDomain,
  its: { readonly decide: CheckDecision; readonly facts: DnsFacts },
): Promise<CustomDomain> => {
  const { domains } = ports;
  const { checkedAt } = its.facts;
  const isProvenElsewhere = isContested(domain, await domains.holdersOf(domain.host));
  const expectation = await expectationOf(ports, domain, isProvenElsewhere);
  const { report, answers } = judgementOn(its.facts, expectation);
  const details = { ...timelineDetails(report), answers };
  const cause = { kind: 'checked', occurredAt: checkedAt, details } as const;
  try {
    const { state } = await domains.change(domain.id, (current, rival) => {
      const now = moment(ports);
      const decision = its.decide(current, report, now);
      // An overtaken check proves nothing, because another account may have proven the name since.
      const isOld = decision.state === current;
      const change = isOld ? decision : claimName(decision, rival, now);
      return { ...change, cause };
    });
    return state;
  } catch (error) {
    // Another account proved the name meanwhile, so the same facts are judged again.
    if (isProvenElsewhere || !isTaken(error)) throw error;
    return decideOn(ports, domain, its);
  }
};

const isTaken = (error: unknown): boolean =>
  error instanceof DomainError && error.code === 'domain_taken';

const expectationOf = async (
  ports: CheckPorts,
  domain: CustomDomain,
  isProvenElsewhere: boolean,
): Promise<DnsExpectation> => {
  const { host, token, isApex, dns } = domain;
  const { platformHost, acmeDnsZone } = ports.naming;
  return {
    token,
    platformHost,
    isApex,
    acmeDnsZone,
    platformAddresses: ports.platformAddresses,
    isContested: isProvenElsewhere,
    sharedToken: acmeDnsZone && (await sharedTokenOf(ports.domains, domain)),
    lastValidation: lastSeenIn(acmeDnsZone, dns.report),
    caa: await Promise.all(authoritiesOf(ports).map((one) => policyOf(one, host))),
  };
};

/** The report is about another challenge zone. */
const lastSeenIn = (zone: string | undefined, report: DnsReport | undefined) =>
  zone !== undefined && report?.challengeZone === zone ? report.validation : undefined;

export const policyOf = async (
  authority: CertificateAuthority,
  host: string,
): Promise<CaaPolicy> => {
  const { name } = authority;
  const issuers = await authority.issuers();
  const [method] = methodsFor({ host, isDelegated: false });
  const accountUri = await authority.accountUri();
  return { authority: name, issuers, accountUri, method, isWildcard: isWildcard(host) };
};

const mostTold = { problems: 10, characters: 200 } as const;

const timelineDetails = ({ probe, problems, verifiable }: DnsReport) => ({
  ...(probe !== undefined && { probe }),
  verifiable,
  problems: problems.slice(0, mostTold.problems).map(({ code, seen, wanted }) => ({
    code,
    seen: shortened(seen, mostTold.characters),
    wanted: shortened(wanted, mostTold.characters),
  })),
});

/** The Verify button. @throws DomainError `verify_too_early`, `reverify_too_early`, `domain_wrong_state` */
export const verifyDomain = (ports: CheckPorts) => {
  const { domains, clock } = ports;
  const check = checkDomain(ports);
  return async ({ id }: CustomDomain): Promise<CustomDomain> => {
    // Decided under the lock, because the state may have changed since it was read.
    const { state: asked } = await domains.change(id, (current) =>
      (current.state === 'verified' ? reverify : askToVerify)(current, clock.now()),
    );
    return asked.state === 'verified' ? asked : check(asked, verify);
  };
};
