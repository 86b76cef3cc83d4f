import {
  mayAskRenewal,
  planRenewal,
  renewalAskedAt,
  type RenewalPlan,
} from '../domain/attachment/plan.ts';
import type { CustomDomain } from '../domain/attachment/custom-domain.ts';
import type { RenewalSpan } from '../domain/certificates/renewal.ts';
import type { CertificateAuthority } from '../certificate-ports.ts';
import type { DomainPorts } from '../ports.ts';
import { mayAskForOwn, ownAskedAt, planOwnRenewal } from '../domain/own/own-renewal.ts';
import { coversHosts, pairOf } from '../domain/own/platform.ts';
import { allIn } from './all-domains.ts';
import { authoritiesOf, authorityNamed, type AuthorityPorts } from './authorities.ts';
import { allEnded, inLanes } from './lanes.ts';

type Ports = AuthorityPorts &
  Pick<
    DomainPorts,
    'domains' | 'certificates' | 'chance' | 'clock' | 'ownNames' | 'naming' | 'hasPlatformFiles'
  >;

/** Questions at a time to each authority. */
const lanes = 8;
/** Then a run leaves the rest to the next one: a slow authority must not delay the next questions to the other one. */
const longestRunMs = 4 * 60_000;

export interface RenewalPlans {
  /** How many renewals were rescheduled. */
  readonly planned: number;
  /** Windows that make no sense. */
  readonly ignored: readonly (RenewalSpan & { readonly host: string })[];
  /** When to ask next: in the past if something was left. Undefined without certificates. */
  readonly nextAt: Date | undefined;
}

/**
 * For each domain that is live or ready, and each name of our own, asks the authority that issued its certificate for its
 * renewal window (RFC 9773), and again when the authority says to. Plans nothing when the authority offers no window. The
 * authorities are asked side by side, so that none waits for the other.
 */
export const planRenewals =
  (ports: Ports) =>
  async (isStopping: () => boolean = () => false): Promise<RenewalPlans> => {
    const run = { isStopping, agenda: agenda() };
    const plans = authoritiesOf(ports).flatMap((authority) => [
      planAt(ports, authority, run),
      planOwnAt(ports, authority, run),
    ]);
    const all = (await allEnded(plans)).flat();
    return {
      planned: all.filter(({ verdict }) => verdict === 'planned').length,
      ignored: all.flatMap(({ verdict, host, window }) =>
        verdict === 'makes_no_sense' && typeof window === 'object'
          ? [{ host, start: window.start, end: window.end }]
          : [],
      ),
      nextAt: run.agenda.firstAt,
    };
  };

/** The first of the times at which there is a question. */
const agenda = () => {
  let firstAt: Date | undefined;
  return {
    get firstAt(): Date | undefined {
      return firstAt;
    },
    note(at: Date | undefined): void {
      if (at && (!firstAt || at < firstAt)) firstAt = at;
    },
    /** Questions were left. */
    isLeft(): void {
      firstAt = new Date(0);
    },
  };
};

interface Run {
  readonly isStopping: () => boolean;
  readonly agenda: ReturnType<typeof agenda>;
}

interface Planned {
  readonly host: string;
  readonly verdict: RenewalPlan['verdict'];
  readonly window: RenewalSpan | 'silent' | undefined;
}

/** Once it has answered, so many questions in a row that it does not: each of them may be about an odd certificate. */
const mostUnanswered = 3;

/** The first question shows whether it answers at all. */
const attention = () => {
  let left = 1;
  return {
    get isLost(): boolean {
      return left === 0;
    },
    heard({ window }: Planned): void {
      left = window === 'silent' ? Math.max(0, left - 1) : mostUnanswered;
    },
  };
};

/** One that does not answer is asked no more in this run: each question would take as long. */
const planAt = async (
  ports: Ports,
  authority: CertificateAuthority,
  run: Run,
): Promise<readonly Planned[]> => {
  const { domains, clock } = ports;
  const end = clock.now().getTime() + longestRunMs;
  const waiting = renewedIn(domains);
  const all: Planned[] = [];
  const attended = attention();
  const isOver = () => run.isStopping() || attended.isLost || clock.now().getTime() > end;
  const next = async (): Promise<boolean> => {
    const { value: domain } = isOver() ? {} : await waiting.next();
    if (isOver()) run.agenda.isLeft();
    const one = domain && !isOver() ? await planOne(ports, { authority, run }, domain) : undefined;
    if (one) {
      all.push(one);
      attended.heard(one);
    }
    return domain !== undefined;
  };
  // The first one that asks it alone shows whether the authority answers at all.
  while (all.length === 0 && (await next()));
  await inLanes(lanes, next);
  return all;
};

/** Ready ones last: visitors depend on the others. */
async function* renewedIn(domains: Ports['domains']): ReturnType<typeof allIn> {
  yield* allIn(domains, 'live');
  return yield* allIn(domains, 'added');
}

const planOne = async (
  ports: Ports,
  { authority, run: { agenda } }: { readonly authority: CertificateAuthority; readonly run: Run },
  domain: CustomDomain,
): Promise<Planned | undefined> => {
  const { domains, certificates, chance, clock } = ports;
  if (!mayAskRenewal(domain, clock.now())) {
    agenda.note(renewalAskedAt(domain));
    return undefined;
  }
  if (authorityNamed(ports, domain.certificate.issuedBy) !== authority) return undefined;
  const { host, id } = domain;
  const certificate = await certificates.find(host);
  const window = certificate && (await authority.renewalWindow(certificate.chain));
  const answer = { window, chance: chance() };
  const plan = await domains.change(id, (one) => planRenewal(one, answer, clock.now()));
  agenda.note(renewalAskedAt(plan.state));
  return { host, verdict: plan.verdict, window };
};

/** Of the hosts of projects only where they need certificates of their own. */
const planOwnAt = async (
  ports: Ports,
  authority: CertificateAuthority,
  { isStopping, agenda }: Run,
): Promise<readonly Planned[]> => {
  const { ownNames, certificates, naming, chance, clock } = ports;
  if (ports.hasPlatformFiles) return [];
  const all: Planned[] = [];
  const attended = attention();
  const names = await ownNames.all();
  const pair = names.find(({ host }) => host === pairOf(naming.platformHost).host);
  const end = clock.now().getTime() + longestRunMs;
  for (const name of pair && coversHosts(pair, clock.now()) ? [pair] : names) {
    if (isStopping() || clock.now().getTime() > end || attended.isLost) {
      agenda.isLeft();
      break;
    }
    if (!mayAskForOwn(name, clock.now())) {
      agenda.note(ownAskedAt(name));
      continue;
    }
    if (authorityNamed(ports, name.certificate.issuedBy) !== authority) continue;
    const current = await certificates.find(name.host);
    const window = current && (await authority.renewalWindow(current.chain));
    const answer = { window, chance: chance() };
    const plan = await ownNames.change(name.host, (one) =>
      planOwnRenewal(one ?? name, answer, clock.now()),
    );
    agenda.note(ownAskedAt(plan.name));
    const one = { host: name.host, verdict: plan.verdict, window };
    all.push(one);
    attended.heard(one);
  }
  return all;
};
