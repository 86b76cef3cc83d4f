import type { CustomDomain, DomainDecision } from './custom-domain.ts';
import type { StoredWork } from '../certificates/certificate-work.ts';
import type { DomainsEvent } from '../domains-event.ts';

export const timelineKinds = [
  'added',
  'checked',
  'ready',
  'unready',
  'verified',
  'attempt',
  'live',
  'renewed',
  'removed',
] as const;
export type TimelineKind = (typeof timelineKinds)[number];

export interface TimelineEntry {
  readonly kind: TimelineKind;
  readonly occurredAt: Date;
  /** Plain values only, because they are stored as JSON. */
  readonly details: Readonly<Record<string, unknown>>;
}

/** Frequent kinds; only the newest entries are kept. Other kinds are kept forever. */
export const mostOfKind = {
  checked: 500,
  attempt: 500,
  ready: 500,
  unready: 500,
} as const satisfies Readonly<Partial<Record<TimelineKind, number>>>;

export const mostOfRemoved = 50;

export const trimsAfter = (
  recorded: TimelineKind,
): readonly { readonly kind: TimelineKind; readonly most: number }[] =>
  Object.entries(mostOfKind)
    .map(([kind, most]) => ({ kind: kind as keyof typeof mostOfKind, most }))
    .filter(({ kind }) => recorded === 'removed' || recorded === kind)
    .map(({ kind, most }) => ({ kind, most: recorded === 'removed' ? mostOfRemoved : most }));

type EventOfDomain = Extract<DomainsEvent, Pick<CustomDomain, 'projectId'> & { domainId: string }>;

const kinds = {
  domain_added: 'added',
  domain_prepared: 'ready',
  domain_unprepared: 'unready',
  domain_verified: 'verified',
  domain_live: 'live',
  domain_removed: 'removed',
  domain_contested: undefined,
  domain_unhealthy: undefined,
  domain_recovered: undefined,
  domain_shared: undefined,
  domain_share_ended: undefined,
  certificate_ordered: undefined,
  certificate_issued: undefined,
  certificate_renewed: 'renewed',
  certificate_failed: undefined,
  certificate_failing: undefined,
  certificate_recovered: undefined,
} as const satisfies Readonly<Record<EventOfDomain['type'], TimelineKind | undefined>>;

export const timelineOf = (
  cause: TimelineEntry | undefined,
  events: readonly DomainsEvent[],
): readonly TimelineEntry[] => [...(cause ? [cause] : []), ...events.flatMap(entryOf)];

const entryOf = (event: DomainsEvent): readonly TimelineEntry[] => {
  const kind = event.type in kinds ? kinds[event.type as EventOfDomain['type']] : undefined;
  return kind ? [{ kind, occurredAt: event.occurredAt, details: detailsOf(event) }] : [];
};

const detailsOf = (event: DomainsEvent): TimelineEntry['details'] => {
  if (event.type === 'domain_removed') return { reason: event.reason };
  return event.type === 'certificate_renewed' ? { notAfter: event.notAfter } : {};
};

/** A decision and everything that is stored with it, all or nothing. */
export interface DomainChange extends DomainDecision, StoredWork {
  readonly cause?: TimelineEntry | undefined;
  readonly displaced?: DomainDecision;
}
