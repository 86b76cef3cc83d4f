import type { CustomDomain } from './custom-domain.ts';
import type { SitesEvent } from './sites-event.ts';

export const timelineKinds = [
  'added',
  'checked',
  'verified',
  'attempt',
  'live',
  'renewed',
  'removed',
] as const;
export type TimelineKind = (typeof timelineKinds)[number];

/** Something that happened to a custom domain, as its owner can follow it. */
export interface TimelineEntry {
  readonly kind: TimelineKind;
  readonly occurredAt: Date;
  /** Plain values only: it is kept as JSON. */
  readonly details: Readonly<Record<string, unknown>>;
}

/** Kinds of which there are many: the newest ones stay. The others tell the life of a domain, and stay always. */
export const mostOfKind = { checked: 500, attempt: 500 } as const satisfies Readonly<
  Partial<Record<TimelineKind, number>>
>;

/** Of each of these kinds, once the domain is removed: nobody works on it any more. */
export const mostOfRemoved = 50;

/** What has to go once an entry is there: all but so many of the newest of a kind. */
export const trimsAfter = (
  recorded: TimelineKind,
): readonly { readonly kind: TimelineKind; readonly most: number }[] =>
  Object.entries(mostOfKind)
    .map(([kind, most]) => ({ kind: kind as keyof typeof mostOfKind, most }))
    .filter(({ kind }) => recorded === 'removed' || recorded === kind)
    .map(({ kind, most }) => ({ kind, most: recorded === 'removed' ? mostOfRemoved : most }));

type EventOfDomain = Extract<SitesEvent, Pick<CustomDomain, 'projectId'> & { domainId: string }>;

/** How each event of a domain shows in its timeline; undefined: the entry that led to it says it already. */
const kinds = {
  domain_added: 'added',
  domain_verified: 'verified',
  domain_live: 'live',
  domain_removed: 'removed',
  certificate_ordered: undefined,
  certificate_issued: undefined,
  certificate_renewed: 'renewed',
  certificate_failed: undefined,
} as const satisfies Readonly<Record<EventOfDomain['type'], TimelineKind | undefined>>;

/** What a decision adds to the timeline of its domain: first what led to it, then what came of it. */
export const timelineOf = (
  cause: TimelineEntry | undefined,
  events: readonly SitesEvent[],
): readonly TimelineEntry[] => [...(cause ? [cause] : []), ...events.flatMap(entryOf)];

const entryOf = (event: SitesEvent): readonly TimelineEntry[] => {
  const kind = event.type in kinds ? kinds[event.type as EventOfDomain['type']] : undefined;
  return kind ? [{ kind, occurredAt: event.occurredAt, details: detailsOf(event) }] : [];
};

const detailsOf = (event: SitesEvent): TimelineEntry['details'] => {
  if (event.type === 'domain_removed') return { reason: event.reason };
  return event.type === 'certificate_renewed' ? { notAfter: event.notAfter } : {};
};
