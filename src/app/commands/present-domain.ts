import type { CustomDomain } from '../../sites/domain/custom-domain.ts';
import type { TimelineEntry } from '../../sites/domain-ports.ts';

/** A domain as the commands print it: dates as ISO 8601, nothing secret. */
export const presentDomain = (domain: CustomDomain) => {
  const { id, host, unicodeHost, state, isApex, token, generation, addedAt, dns } = domain;
  const { order, ...certificate } = domain.certificate;
  return {
    ...{ id, host, unicodeHost, state, isApex, token, generation, addedAt },
    ...(domain.state === 'verified' && { verifiedAt: domain.verifiedAt }),
    ...(domain.state === 'live' && { liveSince: domain.liveSince }),
    ...(domain.state === 'removed' && { removedAt: domain.removedAt, reason: domain.reason }),
    dns,
    certificate: { ...certificate, isOrdered: order !== undefined },
  };
};

export const presentTimeline = ({ kind, occurredAt, details }: TimelineEntry) => ({
  kind,
  occurredAt,
  ...details,
});
