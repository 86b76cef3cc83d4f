import type { CustomDomain, DomainIn, OwnFact } from './custom-domain.ts';
import { isReady } from './readiness.ts';
import { isWildcard } from '../names/wildcard.ts';
import { awaitsCertificate } from './withheld.ts';

type Live = DomainIn<'live'>;

/**
 * Whether each fact of a live domain lets visitors in; all of them have to. A new fact does not compile until it is
 * decided here.
 */
const admits: Readonly<Record<OwnFact<'live'>, Admits>> = {
  liveSince: () => true,
  verifiedAt: () => true,
};
type Admits = (domain: Live) => boolean;

/** Whether visitors come here under this name, and get the site or a redirect. Everything that shows this asks here. */
export const isOpen = (domain: CustomDomain): domain is Live =>
  domain.state === 'live' && Object.values(admits).every((lets) => lets(domain));

/** Whether it has an address that a browser can go to: a wildcard is no name of its own. */
export const isVisited = (domain: CustomDomain): boolean =>
  isOpen(domain) && !isWildcard(domain.host);

/**
 * Whether edges answer for it. They do as soon as it is ready, because the resolver of a visitor may learn before ours
 * do that the name leads here.
 */
export const isServed = (domain: CustomDomain): boolean => isOpen(domain) || isReady(domain);

/** A custom domain as the routes and the settings of its project see it. */
export interface ProjectHost {
  readonly host: string;
  readonly unicodeHost: string;
  readonly isServed: boolean;
  /** Undefined while visitors do not come here; see `isOpen`. */
  readonly liveSince: Date | undefined;
}

/** Those of a project, without the removed ones. */
export const projectHostsOf = (domains: readonly CustomDomain[]): readonly ProjectHost[] =>
  domains.filter(isAttached).map((domain) => {
    const { host, unicodeHost } = domain;
    const liveSince = isOpen(domain) ? domain.liveSince : undefined;
    return { host, unicodeHost, isServed: isServed(domain), liveSince };
  });

/** Whether other routes may follow from a domain after a change. */
export const changesRoutes = (from: CustomDomain, to: CustomDomain): boolean =>
  awaitsCertificate(from) !== awaitsCertificate(to) ||
  JSON.stringify(projectHostsOf([from])) !== JSON.stringify(projectHostsOf([to]));

/** It belongs to its project and takes a place in the plan. */
export const isAttached = ({ state }: Pick<CustomDomain, 'state'>): boolean => state !== 'removed';
