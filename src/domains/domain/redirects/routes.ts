import type { ProjectHost } from '../attachment/serving.ts';
import type { DomainSettings } from './settings.ts';
import { suspensionOf } from './redirects.ts';

/** Where requests for a host lead. */
export type Route = RouteName &
  (
    | { readonly kind: 'site'; readonly deployId: string }
    | {
        readonly kind: 'redirect';
        /** A host or an absolute address; see `Redirect`. */
        readonly to: string;
        readonly status: number;
      }
  );

interface RouteName {
  /** A host name, or one label below the platform host. */
  readonly name: string;
  readonly projectId: string;
}

export interface RoutedProject {
  readonly projectId: string;
  readonly slug: string;
  readonly servedDeployId: string | undefined;
  readonly hosts: readonly ProjectHost[];
  /** Verified names without a certificate that the wildcard of another account covers; see `isWithheldFrom`. */
  readonly withheld: readonly string[];
  readonly settings: DomainSettings;
}

/**
 * Everything that is served of a project: its own host, and each served domain or where that leads. A withheld name has a
 * route too: without a certificate, an edge refuses it, where it would let a wildcard answer for a name without a route.
 */
export const routesOf = (project: RoutedProject): readonly Route[] => {
  const { projectId, slug, servedDeployId: deployId, hosts, withheld, settings } = project;
  if (deployId === undefined) return [];
  const own: Route = { name: slug, projectId, kind: 'site', deployId };
  const served = hosts.filter(({ isServed }) => isServed).map(({ host }) => host);
  return [
    own,
    ...served.map((name): Route => {
      const redirect = settings.redirects.find(({ from }) => from === name);
      // While its target is not served, the host serves the site itself: better than an error.
      return redirect && suspensionOf(redirect, hosts, settings.redirects) === undefined
        ? { name, projectId, kind: 'redirect', to: redirect.to, status: redirect.status }
        : { name, projectId, kind: 'site', deployId };
    }),
    ...withheld.map((name): Route => ({ name, projectId, kind: 'site', deployId })),
  ];
};
