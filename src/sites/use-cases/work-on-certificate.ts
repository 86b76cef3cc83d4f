import { entryKinds, mayOrder, type Hold, type OrderKind } from '../domain/ca-budget.ts';
import type { AuthorityFailure } from '../domain/certificate-order.ts';
import type { Certificate } from '../domain/certificate.ts';
import { postponeAttempt } from '../domain/certificate-plan.ts';
import { keepsOrder } from '../domain/certificate-standing.ts';
import { unchanged, type CustomDomain } from '../domain/custom-domain.ts';
import {
  certificateFailed,
  certificateIssued,
  fenceOf,
  orderStarted,
  type FencedDecision,
} from '../domain/domain-certificate.ts';
import { recordCheck } from '../domain/domain-checks.ts';
import { dueWork } from '../domain/domain-schedule.ts';
import { orderSubject } from '../domain/order-subject.ts';
import type { TimelineEntry } from '../domain/domain-timeline.ts';
import type { DomainPorts, LedgerEntry } from '../domain-ports.ts';
import { advanceOrder, type OrderOutcome } from './advance-order.ts';
import { checkDomain } from './check-domain.ts';

/**
 * Takes the certificate of a domain as far as it goes now: a look at its DNS and CAA that costs the authority
 * nothing, a place in the budgets, then the order. What comes back late, after a removal or for an older attempt,
 * is destroyed with its key.
 * @throws Unavailable
 */
export const workOnCertificate = (ports: DomainPorts) => {
  const { domains, authority, certificates, orders, ledger, timeline, clock } = ports;
  const advance = advanceOrder(ports);
  const check = checkDomain(ports);

  /** Whether what comes of the order would be taken. */
  const isWanted = async ({ id, generation }: CustomDomain): Promise<boolean> => {
    const current = await domains.get(id);
    return current?.generation === generation && current.certificate.isOrdered;
  };

  /** A renewal is exempt only where the authority has heard of such (RFC 9773). */
  const kindOf = async ({ host, state, certificate }: CustomDomain): Promise<OrderKind> => {
    if (certificate.askRenewalAt) return 'exempt';
    const current = state === 'live' ? await certificates.find(host) : undefined;
    if (!current) return 'new';
    return (await authority.renewalWindow(current.chain)) === undefined ? 'renewal' : 'exempt';
  };

  /** Many may wait for one limit and be told to come back together: only a change is told of. */
  const postpone = async (id: string, { reason, nextAt }: Hold): Promise<void> => {
    const [last] = await timeline.list(id, 1);
    const isTold = last?.kind === 'attempt' && last.details['budget'] === reason;
    const cause = attempt({ outcome: 'postponed', budget: reason, until: nextAt });
    await domains.change(id, (current) => ({
      ...postponeAttempt(current, nextAt),
      cause: isTold ? undefined : cause,
    }));
  };

  /** @returns the domain with an order under way, or undefined when there is to be none now */
  const begin = async (domain: CustomDomain): Promise<CustomDomain | undefined> => {
    const wanted = { isManual: domain.certificate.isManual, kind: await kindOf(domain) };
    // Before the DNS is asked: those that wait for their share come back often.
    const early = mayOrder(await ledger.use(domain, clock.now()), wanted, clock.now());
    if (!early.allowed) return postpone(domain.id, early).then(() => undefined);
    const checked = await check(domain, recordCheck);
    if (checked.certificate.isOrdered || dueWork(checked, clock.now()) !== 'certificate')
      return undefined;
    const now = clock.now();
    const order = entry(entryKinds[wanted.kind], checked, now);
    const verdict = await ledger.reserve(order, (use) => mayOrder(use, wanted, now));
    if (!verdict.allowed) return postpone(checked.id, verdict).then(() => undefined);
    const started = await domains.change(checked.id, (current) =>
      orderStarted(current, fenceOf(checked), now),
    );
    if (started.verdict !== 'taken') return undefined;
    // Somebody may have died after the order before was over, and before it was forgotten.
    await orders.forget(orderSubject(checked));
    return started.state;
  };

  const attempt = (details: TimelineEntry['details']): TimelineEntry => {
    return { kind: 'attempt', occurredAt: clock.now(), details };
  };

  const issued = async (domain: CustomDomain, certificate: Certificate): Promise<void> => {
    const now = clock.now();
    const { notBefore, notAfter } = certificate;
    const brought = { ...fenceOf(domain), notBefore, notAfter };
    const { verdict, events } = await domains.change(domain.id, (current) => {
      const decision = certificateIssued(current, brought, now);
      const outcome = outcomeOf(decision);
      const cause = outcome === 'known' ? undefined : attempt({ outcome, notAfter });
      return { ...decision, cause, ...(decision.verdict === 'taken' && { certificate }) };
    });
    await orders.forget(orderSubject(domain));
    if (outcomeOf({ verdict, events }) !== 'known')
      await ledger.record(entry('issued', domain, now));
  };

  const failed = async (domain: CustomDomain, failure: AuthorityFailure): Promise<void> => {
    const now = clock.now();
    const { issuers } = authority;
    const cause = attempt({ outcome: 'failed', ...failure });
    await domains.change(domain.id, (current) => ({
      // Whoever worked on it as well has noted this down already.
      ...(current.certificate.isOrdered
        ? certificateFailed(current, { ...fenceOf(domain), failure, issuers }, now)
        : unchanged(current)),
      cause,
    }));
    if (!keepsOrder(failure.reason)) {
      await orders.forget(orderSubject(domain));
      await ledger.record(entry('failure', domain, now));
    }
  };

  return async (domain: CustomDomain): Promise<void> => {
    const ordered = domain.certificate.isOrdered ? domain : await begin(domain);
    if (!ordered) return;
    const { host } = ordered;
    const replaces = ordered.state === 'live' ? (await certificates.find(host))?.chain : undefined;
    const wanted = { subject: orderSubject(ordered), host, replaces };
    const outcome = await advance({ ...wanted, isWanted: () => isWanted(ordered) }).catch(
      async (error: unknown): Promise<OrderOutcome> => {
        if (await isWanted(ordered)) throw error;
        return { kind: 'unwanted' };
      },
    );
    switch (outcome.kind) {
      case 'issued':
        return issued(ordered, outcome.certificate);
      case 'failed':
        return failed(ordered, outcome.failure);
      case 'processing': {
        const again = new Date(clock.now().getTime() + outcome.askAgainAfterMs);
        await domains.change(ordered.id, (current) => postponeAttempt(current, again));
        return;
      }
      case 'unwanted':
    }
  };
};

const outcomeOf = ({ verdict, events }: Pick<FencedDecision, 'verdict' | 'events'>) => {
  if (verdict === 'destroy') return 'came too late, destroyed';
  return events.length > 0 ? 'issued' : 'known';
};

const entry = (
  kind: LedgerEntry['kind'],
  { accountId, host, registrableDomain, certificate }: CustomDomain,
  occurredAt: Date,
): LedgerEntry => {
  const { isManual } = certificate;
  return { kind, accountId, host, registrableDomain, isManual, occurredAt };
};
