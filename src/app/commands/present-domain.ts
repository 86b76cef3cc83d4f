import { isAtApex, type CustomDomain } from '../../domains/domain/attachment/custom-domain.ts';
import { shownHost } from '../../domains/domain/names/hostname.ts';
import type { TimelineEntry } from '../../domains/domain/attachment/timeline.ts';
import type { DomainView } from '../../domains/use-cases/show-domain.ts';

/**
 * A domain as the commands print it: dates as ISO 8601, nothing secret.
 * @param project slug of its project, as `--project` takes it
 */
export const presentDomain = (domain: CustomDomain, project: string) => {
  const { id, accountId, host, unicodeHost, state, token, generation } = domain;
  const { addedAt, dns, certificate } = domain;
  return {
    ...{ id, project, accountId, host, unicodeHost, state, isApex: isAtApex(domain) },
    ...{ token, generation, addedAt },
    ...('verifiedAt' in domain && { verifiedAt: domain.verifiedAt }),
    ...(domain.state === 'live' && { liveSince: domain.liveSince }),
    ...(domain.state === 'removed' && { removedAt: domain.removedAt, reason: domain.reason }),
    ...{ dns, certificate },
  };
};

/** The open problems of a domain, and its history. */
export const presentView = (
  { records, bind, hints, problems, health, budget, nextAt }: DomainView,
  timeline: readonly TimelineEntry[],
) => ({
  ...{ records, bind, hints, problems, health: health ?? null, budget, nextAt: nextAt ?? null },
  timeline: timeline.map(presentTimeline),
});

const presentTimeline = ({ kind, occurredAt, details }: TimelineEntry) => ({
  kind,
  occurredAt,
  ...details,
});

export const hostInWords = ({ host, unicodeHost: unicode }: CustomDomain): string =>
  shownHost({ host, unicode });

export const stateInWords = ({ state }: CustomDomain): string =>
  state === 'added' ? 'added, awaiting DNS' : state;
