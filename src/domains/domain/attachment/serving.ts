import type { CustomDomain, DomainIn, OwnFact } from './custom-domain.ts';

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

/** Whether visitors get the site, or a redirect, under this name. Everything that shows or stores this asks here. */
export const isServed = (domain: CustomDomain): boolean =>
  domain.state === 'live' && Object.values(admits).every((lets) => lets(domain));

/** A custom domain as the routes and the settings of its project see it. */
export interface ProjectHost {
  readonly host: string;
  readonly unicodeHost: string;
  readonly isServed: boolean;
}

/** Those of a project, without the removed ones. */
export const projectHostsOf = (domains: readonly CustomDomain[]): readonly ProjectHost[] =>
  domains.filter(isAttached).map((domain) => {
    const { host, unicodeHost } = domain;
    return { host, unicodeHost, isServed: isServed(domain) };
  });

/** Whether other routes may follow from a domain after a change. */
export const changesRoutes = (from: CustomDomain, to: CustomDomain): boolean =>
  JSON.stringify(projectHostsOf([from])) !== JSON.stringify(projectHostsOf([to]));

/** It belongs to its project and takes a place in the plan. */
export const isAttached = ({ state }: Pick<CustomDomain, 'state'>): boolean => state !== 'removed';
