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
  /** Plain values only: it is kept as JSON. */
  readonly details: Readonly<Record<string, unknown>>;
}

/** Frequent kinds, of which only the newest are kept. All other kinds are kept for ever. */
export const mostOfKind = {
  checked: 500,
  attempt: 500,
  ready: 500,
  unready: 500,
} as const satisfies Readonly<Partial<Record<TimelineKind, number>>>;

/** Per kind, once the domain is removed. */
export const mostOfRemoved = 50;

/** What to delete after a new entry: all but the newest entries of its kind. */
export const trimsAfter = (
  recorded: TimelineKind,
): readonly { readonly kind: TimelineKind; readonly most: number }[] =>
  Object.entries(mostOfKind)
    .map(([kind, most]) => ({ kind: kind as keyof typeof mostOfKind, most }))
    .filter(({ kind }) => recorded === 'removed' || recorded === kind)
    .map(({ kind, most }) => ({ kind, most: recorded === 'removed' ? mostOfRemoved : most }));

type EventOfDomain = Extract<DomainsEvent, Pick<CustomDomain, 'projectId'> & { domainId: string }>;

/** Timeline entry of each domain event; undefined when the entry of its cause says it already. */
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

/** What a decision adds to its domain's timeline: the cause first, then the events. */
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

/** A decision on a domain and everything that depends on it: stored as a whole or not at all. */
export interface DomainChange extends DomainDecision, StoredWork {
  /** The cause, as shown to the owner. */
  readonly cause?: TimelineEntry | undefined;
  /** The rival that loses the name. */
  readonly displaced?: DomainDecision;
}
