import type { Tally } from '../../adapters/http/metrics/measures.ts';
import {
  authorityFailureReasons,
  type AuthorityFailureReason,
  type OrderState,
} from '../../domains/domain/certificates/certificate-status.ts';
import type { CertificateAuthority } from '../../domains/certificate-ports.ts';

/** The same authority; what it takes, issues and fails is counted by its name. */
export const measuredAuthority = (
  authority: CertificateAuthority,
  metrics: Pick<Tally, 'count'>,
): CertificateAuthority => {
  const { name } = authority;
  const failed = (reason: AuthorityFailureReason, by = 1) => {
    metrics.count('authority_failures_total', { authority: name, reason }, by);
  };
  const count = (what: 'orders' | 'certificates', by = 1) => {
    metrics.count(`authority_${what}_total`, { authority: name }, by);
  };
  const told = async (step: Promise<OrderState>): Promise<OrderState> => {
    const state = await step;
    if (state.kind === 'failed') failed(state.failure.reason);
    if (state.kind === 'issued') count('certificates');
    return state;
  };
  for (const reason of authorityFailureReasons) failed(reason, 0);
  for (const what of ['orders', 'certificates'] as const) count(what, 0);
  return {
    name,
    issuers: () => authority.issuers(),
    accountUri: () => authority.accountUri(),
    newPrivateKey: () => authority.newPrivateKey(),
    order: async (host, replaces, also) => {
      const answer = await authority.order(host, replaces, also);
      if (answer.kind === 'failed') failed(answer.failure.reason);
      else count('orders');
      return answer;
    },
    look: (order) => told(authority.look(order)),
    prove: (order, challengeUrl) => told(authority.prove(order, challengeUrl)),
    finalize: (order) => told(authority.finalize(order)),
    renewalWindow: (chain) => authority.renewalWindow(chain),
  };
};
