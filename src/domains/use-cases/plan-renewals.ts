import { planDomainRenewal, renewedCertificate } from '../domain/attachment/domain-certificate.ts';
import {
  askedForAt,
  mayAskFor,
  planRenewal,
  type RenewalAnswer,
  type RenewalPlan,
  type IssuedCertificate,
} from '../domain/certificates/certificate-status.ts';
import type { CustomDomain } from '../domain/attachment/custom-domain.ts';
import type { RenewalSpan } from '../domain/certificates/renewal.ts';
import type { CertificateAuthority } from '../certificate-ports.ts';
import type { DomainPorts } from '../ports.ts';
import type { OwnName } from '../domain/own/own-name.ts';
import { allIn } from './count-domains.ts';
import { authoritiesOf, authorityNamed, type AuthorityPorts } from './advance-order.ts';
import { earliest } from '../../kernel/ports.ts';
import { allEnded, type NeededPorts, neededNames, runConcurrently } from './secure-sites.ts';

type Ports = AuthorityPorts &
  NeededPorts &
  Pick<DomainPorts, 'domains' | 'certificates' | 'chance'>;

const lanes = 8;
const longestRunMs = 4 * 60_000;

export interface RenewalPlans {
  readonly planned: number;
  readonly ignored: readonly (RenewalSpan & { readonly host: string })[];
  /** The time of the next request; in the past if work is left. Undefined without certificates. */
  readonly nextAt: Date | undefined;
}

/** Asks for the renewal window (RFC 9773). Authorities are asked in parallel, so that neither waits for the other. */
export const planRenewals =
  (ports: Ports) =>
  async (isStopping: () => boolean = () => false): Promise<RenewalPlans> => {
    const run: Run = { isStopping, askAgainAt: [] };
    const plans = authoritiesOf(ports).map((authority) => planAt(ports, authority, run));
    const all = (await allEnded(plans)).flat();
    return {
      planned: all.filter(({ verdict }) => verdict === 'planned').length,
      ignored: all.flatMap(({ verdict, host, window }) =>
        verdict === 'makes_no_sense' && typeof window === 'object'
          ? [{ host, start: window.start, end: window.end }]
          : [],
      ),
      nextAt: earliest(run.askAgainAt),
    };
  };

interface Run {
  readonly isStopping: () => boolean;
  /** When each certificate may be asked for again; long ago if work is left. */
  readonly askAgainAt: (Date | undefined)[];
}

interface Planned {
  readonly host: string;
  readonly verdict: Plan['verdict'];
  readonly window: RenewalSpan | 'silent' | undefined;
}

const mostUnanswered = 3;

/** Stops asking an authority that does not answer, because each question would time out. */
const planAt = async (
  ports: Ports,
  authority: CertificateAuthority,
  run: Run,
): Promise<readonly Planned[]> => {
  const { clock } = ports;
  const end = clock.now().getTime() + longestRunMs;
  const waiting = renewedIn(ports);
  const all: Planned[] = [];
  // The first question shows whether the authority answers at all.
  let patience = 1;
  const isOver = () => run.isStopping() || patience === 0 || clock.now().getTime() > end;
  const next = async (): Promise<boolean> => {
    const { value: renewed } = isOver() ? {} : await waiting.next();
    if (isOver()) run.askAgainAt.push(new Date(0));
    const one =
      renewed && !isOver() ? await planOne(ports, { authority, run }, renewed) : undefined;
    if (one) {
      all.push(one);
      patience = one.window === 'silent' ? Math.max(0, patience - 1) : mostUnanswered;
    }
    return renewed !== undefined;
  };
  while (all.length === 0 && (await next()));
  await runConcurrently(lanes, next);
  return all;
};

const planOne = async (
  ports: Ports,
  { authority, run }: { readonly authority: CertificateAuthority; readonly run: Run },
  { host, certificate, plan }: Renewed,
): Promise<Planned | undefined> => {
  const { certificates, chance, clock } = ports;
  if (!mayAskFor(certificate, clock.now())) {
    run.askAgainAt.push(askedForAt(certificate));
    return undefined;
  }
  if (authorityNamed(ports, certificate.issuedBy) !== authority) return undefined;
  const current = await certificates.find(host);
  const window = current && (await authority.renewalWindow(current.chain));
  const planned = await plan({ window, chance: chance() });
  run.askAgainAt.push(planned.certificate && askedForAt(planned.certificate));
  return { host, verdict: planned.verdict, window };
};

/** The certificate is undefined if it is no longer renewed. */
type Plan = RenewalPlan<IssuedCertificate | undefined>;

interface Renewed {
  readonly host: string;
  readonly certificate: IssuedCertificate;
  readonly plan: (answer: RenewalAnswer) => Promise<Plan>;
}

async function* renewedIn(ports: Ports): AsyncGenerator<Renewed, undefined> {
  for (const name of await neededNames(ports)) yield* renewedName(ports, name);
  for await (const domain of allIn(ports.domains, 'live')) yield* renewedDomain(ports, domain);
  for await (const domain of allIn(ports.domains, 'added')) yield* renewedDomain(ports, domain);
  return undefined;
}

const renewedDomain = ({ domains, clock }: Ports, domain: CustomDomain): readonly Renewed[] => {
  const { id, host } = domain;
  const certificate = renewedCertificate(domain);
  const plan = async (answer: RenewalAnswer): Promise<Plan> => {
    const { state, verdict } = await domains.change(id, (one) =>
      planDomainRenewal(one, answer, clock.now()),
    );
    return { certificate: renewedCertificate(state), verdict };
  };
  return certificate ? [{ host, certificate, plan }] : [];
};

const renewedName = ({ ownNames, clock }: Ports, known: OwnName): readonly Renewed[] => {
  const { host, certificate } = known;
  const plan = async (answer: RenewalAnswer): Promise<Plan> => {
    const { name, verdict } = await ownNames.change(host, (one = known) => {
      const planned = planRenewal(one.certificate, answer, clock.now());
      return { name: { ...one, certificate: planned.certificate }, verdict: planned.verdict };
    });
    return { certificate: issuedOf(name), verdict };
  };
  return certificate.kind === 'issued' ? [{ host, certificate, plan }] : [];
};

const issuedOf = ({ certificate }: OwnName): IssuedCertificate | undefined =>
  certificate.kind === 'issued' ? certificate : undefined;
