/** Where the pages of custom domains are; patterns of @koa/router have the same form. */
export const domainsPath = (slug: string): string => `/dashboard/projects/${slug}/settings/domains`;

/** @param host as A-labels */
export const domainPath = (slug: string, host: string): string => `${domainsPath(slug)}/${host}`;

/** One attachment of a host, also after the host was added again. */
export const attachmentPath = (
  slug: string,
  { host, id }: { readonly host: string; readonly id: string },
): string => `${domainPath(slug, host)}?${new URLSearchParams({ attachment: id }).toString()}`;

/** What is decided about all domains of a project. */
export const settingPath = (
  slug: string,
  what: 'primary-domain' | 'redirects' | 'configuration',
): string => `/dashboard/projects/${slug}/settings/${what}`;
