import { postponeAttempt } from '../domain/attachment/plan.ts';
import { isOrdered } from '../domain/certificates/standing.ts';
import type { CustomDomain } from '../domain/attachment/custom-domain.ts';
import { orderBrought, orderFailed } from '../domain/attachment/order.ts';
import { orderSubject } from '../domain/attachment/order-subject.ts';
import type { OrderPorts, OrderSubject } from './advance-order.ts';
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
  async (domain: CustomDomain): Promise<void> => {
    await secureName(ports, {
      ordered: isOrdered(domain) ? await domainOrder(ports, domain) : undefined,
      claim: async () => {
        const begun = await beginOrder(ports)(domain);
        return begun && domainOrder(ports, begun);
      },
      settle: settleOrder(ports),
    });
  };

const domainOrder = async (
  { domains, certificates }: WorkPorts,
  ordered: CustomDomain,
): Promise<DomainOrder> => {
  const { id, host, generation, state } = ordered;
  const subject = orderSubject(ordered);
  const replaces = state === 'live' ? (await certificates.find(host))?.chain : undefined;
  const isWanted = async (): Promise<boolean> => {
    const current = await domains.get(id);
    return current?.generation === generation && isOrdered(current);
  };
  return { ordered, host, subject, orderKey: subject, replaces, isWanted };
};

const settleOrder =
  ({ domains, authority: { issuers }, clock }: WorkPorts) =>
  async ({ ordered }: DomainOrder, outcome: SettledOutcome): Promise<void> => {
    const now = clock.now();
    await domains.change(ordered.id, (domain) => {
      switch (outcome.kind) {
        case 'issued':
          return orderBrought(domain, { ordered, certificate: outcome.certificate }, now);
        case 'failed':
        case 'not_placed':
          return orderFailed(domain, { ordered, end: outcome, issuers }, now);
        case 'processing':
          return postponeAttempt(domain, new Date(now.getTime() + outcome.askAgainAfterMs));
      }
    });
  };
