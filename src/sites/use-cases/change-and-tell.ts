import type { CustomDomain } from '../domain/custom-domain.ts';
import type { SitesEvent } from '../domain/sites-event.ts';
import type { CustomDomains, DomainPorts, TimelineEntry, TimelineKind } from '../domain-ports.ts';

type Decide = Parameters<CustomDomains['change']>[1];

/**
 * Changes a domain, then tells its timeline, and that of whoever lost the name, what came of it.
 * @param before asked when it is decided: what led to it, to be told first
 */
export const changeAndTell =
  ({ domains, timeline }: Pick<DomainPorts, 'domains' | 'timeline'>) =>
  async (
    id: string,
    decide: Decide,
    before?: () => TimelineEntry | undefined,
  ): Promise<CustomDomain> => {
    let events: readonly SitesEvent[] = [];
    const changed = await domains.change(id, (domain, holder) => {
      const change = decide(domain, holder);
      events = [...(change.displaced?.events ?? []), ...change.events];
      return change;
    });
    const cause = before?.();
    if (cause) await timeline.record(id, cause);
    for (const event of events.filter(isTold)) {
      const { domainId, occurredAt } = event;
      const entry = { kind: kinds[event.type], occurredAt, details: detailsOf(event) };
      await timeline.record(domainId, entry);
    }
    return changed;
  };

const kinds = {
  domain_verified: 'verified',
  domain_live: 'live',
  certificate_renewed: 'renewed',
  domain_removed: 'removed',
} as const satisfies Partial<Record<SitesEvent['type'], TimelineKind>>;

type ToldEvent = Extract<SitesEvent, { readonly type: keyof typeof kinds }>;

const isTold = (event: SitesEvent): event is ToldEvent => event.type in kinds;

const detailsOf = (event: ToldEvent): TimelineEntry['details'] => {
  if (event.type === 'domain_removed') return { reason: event.reason };
  return event.type === 'certificate_renewed' ? { notAfter: event.notAfter } : {};
};
