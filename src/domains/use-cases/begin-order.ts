import type { Hold, OrderKind } from '../domain/certificates/ca-budget.ts';
import { isManual, isOrdered, isRenewal, longestWait } from '../domain/certificates/standing.ts';
import type { CustomDomain } from '../domain/attachment/custom-domain.ts';
import { fenceOf } from '../domain/attachment/certificate.ts';
import { recordCheck } from '../domain/attachment/checks.ts';
import { claimOrder, heldUp, mayReplace, orderUnanswered } from '../domain/attachment/order.ts';
import { dueWork } from '../domain/attachment/schedule.ts';
import type { DomainPorts } from '../ports.ts';
import { authorityFor } from './authorities.ts';
import { checkDomain, type CheckPorts } from './check-domain.ts';
import { findHold } from './secure-name.ts';

export type BeginPorts = CheckPorts & Pick<DomainPorts, 'certificates' | 'ledger' | 'timeline'>;

/**
 * Begins a new order for a domain. Checks its DNS and CAA first, which costs no request to the authority, then reserves
 * a place in the budgets and a generation in one step.
 * @param asked if it is marked as ordered, the answer to that order was lost
 * @returns the domain with the order; undefined when none may begin now
 */
export const beginOrder =
  (ports: BeginPorts) =>
  async (asked: CustomDomain): Promise<CustomDomain | undefined> => {
    const domain = isOrdered(asked) ? await giveUpOrder(ports, asked) : asked;
    const before = await attemptAt(ports, domain);
    // Before the DNS lookup: domains that wait for a budget come back often.
    if (!(await mayTryNow(ports, domain, before))) return undefined;
    const checked = await checkDomain(ports)(domain, recordCheck);
    const now = ports.clock.now();
    if (isOrdered(checked) || dueWork(checked, now) !== 'certificate') return undefined;
    const fence = fenceOf(checked);
    // The check may have shown that another authority has to be asked.
    const isSame = authorityFor(ports, checked, now).name === before.authority;
    const at = isSame ? before : await attemptAt(ports, checked);
    const claim = await ports.domains.changeCounted(checked.id, { ...at, now }, (one, use) =>
      claimOrder(one, { ...at, fence, use }, now),
    );
    return claim.verdict === 'begun' ? claim.state : undefined;
  };

/** The authority's answer was lost, and with it the order. */
const giveUpOrder = async (
  { domains, clock }: BeginPorts,
  domain: CustomDomain,
): Promise<CustomDomain> => {
  const [fence, now] = [fenceOf(domain), clock.now()];
  return (await domains.change(domain.id, (one) => orderUnanswered(one, fence, now))).state;
};

/** Domains that wait for a limit retry often, so the timeline gets an entry only when the limit changes. */
const mayTryNow = async (
  ports: BeginPorts,
  domain: CustomDomain,
  { authority, kind, isSilent }: Attempt,
): Promise<boolean> => {
  const name = { ...domain, authority };
  const hold = await findHold(ports, name, { isManual: isManual(domain), kind });
  if (!hold) return true;
  const [last] = await ports.timeline.list(domain.id, 1);
  const isTold = last?.kind === 'attempt' && last.details['budget'] === hold.reason;
  const now = ports.clock.now();
  await ports.domains.change(domain.id, (one) => {
    const change = heldUp(one, isSilent ? shorter(hold, one, now) : hold, now);
    return isTold ? { ...change, cause: undefined } : change;
  });
  return false;
};

interface Attempt {
  /** Name of the authority that it goes to. */
  readonly authority: string;
  readonly kind: OrderKind;
  /** It did not say whether the order counts. */
  readonly isSilent: boolean;
}

/**
 * A renewal is exempt only at the authority that issued the certificate, and if that still supports RFC 9773: it is asked
 * now, because what it said before may no longer be true.
 */
const attemptAt = async (ports: BeginPorts, domain: CustomDomain): Promise<Attempt> => {
  const authority = authorityFor(ports, domain, ports.clock.now());
  const { name } = authority;
  const current = mayReplace(domain, name) ? await ports.certificates.find(domain.host) : undefined;
  const window = current && (await authority.renewalWindow(current.chain));
  const counted = isRenewal(domain) ? 'renewal' : 'new';
  const kind = typeof window === 'object' ? 'exempt' : counted;
  return { authority: name, kind, isSilent: window === 'silent' };
};

/** An authority that is silent now may exempt the order later: it is asked again as after a failure. */
const shorter = (hold: Hold, { certificate }: CustomDomain, now: Date): Hold => {
  const nextAt = new Date(now.getTime() + longestWait(certificate, now));
  return nextAt < hold.nextAt ? { ...hold, nextAt } : hold;
};
