import { choiceOf, isCertified, orderedAt } from '../domain/attachment/plan.ts';
import { isLeft } from '../domain/certificates/authorities.ts';
import { fenceOf } from '../domain/attachment/certificate.ts';
import { isOrdered, workOn } from '../domain/certificates/standing.ts';
import type { Hold } from '../domain/certificates/ca-budget.ts';
import { orderNotMade } from '../domain/certificates/ca-ledger.ts';
import type { DomainChange } from '../domain/attachment/change.ts';
import { unchanged, type CustomDomain } from '../domain/attachment/custom-domain.ts';
import {
  mayReplace,
  orderBrought,
  orderFailed,
  orderLeft,
  orderProcessing,
} from '../domain/attachment/order.ts';
import { orderCountedAgain, orderHeldUp } from '../domain/attachment/counted-again.ts';
import { withNews } from '../domain/attachment/trouble.ts';
import { orderSubject } from '../domain/attachment/order-subject.ts';
import type { OrderPorts, OrderSubject, Proof } from './advance-order.ts';
import { authorityNamed } from './authorities.ts';
import { beginOrder, type BeginPorts } from './begin-order.ts';
import { secureName, type SettledOutcome } from './secure-name.ts';

export type WorkPorts = BeginPorts & OrderPorts;

interface DomainOrder extends OrderSubject {
  readonly ordered: CustomDomain;
}

/**
 * Advances the certificate of a domain as far as possible now. A certificate that arrives after the removal, or for an
 * older attempt, is destroyed with its key.
 * @throws Unavailable
 */
export const workOnCertificate =
  (ports: WorkPorts) =>
  async (asked: CustomDomain): Promise<void> => {
    const domain = await leaveLost(ports, asked);
    await secureName(ports, {
      ordered: isOrdered(domain) ? await domainOrder(ports, domain) : undefined,
      claim: async () => {
        const begun = await beginOrder(ports)(domain);
        return begun && domainOrder(ports, begun);
      },
      settle: settleOrder(ports),
    });
  };

/** An order at an authority that has been away for long is given up, if another one may be asked. */
const leaveLost = async (ports: WorkPorts, domain: CustomDomain): Promise<CustomDomain> => {
  const now = ports.clock.now();
  if (!isCertified(domain) || !isLeft(choiceOf(domain), orderedAt(domain), now)) return domain;
  const fence = fenceOf(domain);
  return (await ports.domains.change(domain.id, (one) => orderLeft(one, fence, now))).state;
};

/** It is taken back first, because it would stand in its own way. */
const countedAgain = async (
  { domains, clock }: WorkPorts,
  ordered: CustomDomain,
  authority: string,
): Promise<Hold | undefined> => {
  const { id } = ordered;
  const now = clock.now();
  const ledger = orderNotMade(orderSubject(ordered));
  await domains.change(id, (domain) => ({ ...unchanged(domain), ledger }));
  const { hold } = await domains.changeCounted(id, { authority, now }, (domain, use) =>
    orderCountedAgain(domain, { ordered, use }, now),
  );
  return hold;
};

const domainOrder = async (ports: WorkPorts, ordered: CustomDomain): Promise<DomainOrder> => {
  const { domains, certificates } = ports;
  const { id, host, generation, token } = ordered;
  const subject = orderSubject(ordered);
  const authority = isCertified(ordered) ? orderedAt(ordered) : '';
  const replaces = mayReplace(ordered, authority)
    ? (await certificates.find(host))?.chain
    : undefined;
  const isWanted = async (): Promise<boolean> => {
    const current = await domains.get(id);
    return current?.generation === generation && isOrdered(current);
  };
  const work = workOn(ordered);
  const isByDns = work?.step === 'ordered' && work.method === 'dns-01';
  const label = ordered.dns.report?.validation?.label ?? token;
  const proof: Proof = isByDns ? { method: 'dns-01', label } : { method: 'http-01' };
  const order = { authority, host, subject, orderKey: subject };
  const countAgain = () => countedAgain(ports, ordered, authority);
  return { ordered, ...order, replaces, proof, countAgain, isWanted };
};

const settleOrder =
  (ports: WorkPorts) =>
  async ({ ordered, authority }: DomainOrder, outcome: SettledOutcome): Promise<void> => {
    const { domains, clock } = ports;
    const now = clock.now();
    const issuers = authorityNamed(ports, authority)?.issuers ?? [];
    const settled = (domain: CustomDomain): DomainChange => {
      switch (outcome.kind) {
        case 'issued':
          return orderBrought(domain, { ordered, certificate: outcome.certificate }, now);
        case 'failed':
        case 'not_placed':
          return orderFailed(domain, { ordered, end: outcome, issuers }, now);
        case 'held_up':
          return orderHeldUp(domain, { ordered, hold: outcome.hold }, now);
        case 'processing':
          return orderProcessing(domain, new Date(now.getTime() + outcome.askAgainAfterMs));
      }
    };
    await domains.change(ordered.id, (domain) => withNews(settled(domain), now));
  };
