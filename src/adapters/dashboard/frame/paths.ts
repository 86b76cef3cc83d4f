export const signInPath = '/dashboard/sign-in';
export const factorPath = '/dashboard/second-factor';

export const accountPath = '/dashboard/account';

export const mePath = '/dashboard/me';
export const secondFactorPath = `${mePath}/second-factor`;
export const factorAppPath = `${secondFactorPath}/app`;
export const peoplePath = `${accountPath}/people`;

export const deletedPath = `${accountPath}/deleted`;
/** The codes of the notices that the sign-in page shows after an account was deleted, or left. */
export const accountDeleted = 'deleted';
export const accountLeft = 'left';

export const newPasswordPath = `${accountPath}/new-password`;

export const searchPath = '/dashboard/search';

export const helpPages = [
  'dashboard',
  'sites',
  'deploy-from-ci',
  'domains',
  'api',
  'limits',
  'lifecycles',
  'notifications',
  'roles',
  'errors',
  'webhooks',
] as const;
export type HelpPage = (typeof helpPages)[number];

export const helpPath = (page: HelpPage): string => `/dashboard/help/${page}`;

export const noticesPath = '/dashboard/notices';

export const bellPath = `${noticesPath}/bell`;

/**
 * Accepts a POST from any site, because mail programs send it (RFC 8058), some of them from a web page. It uses no
 * cookie, only a token that no other site knows.
 */
export const unsubscribePath = '/dashboard/unsubscribe';

/** The page of a domain for visitors who are not signed in. Logs hide the secret; see `shownPath`. */
export const sharedPath = (secret: string): string => `/dashboard/shared-domain/${secret}`;

export const withQuery = (path: string, query: string): string =>
  query === '' ? path : `${path}?${query}`;

const firstPage = '/dashboard';
/** A path below ours with an optional query, in characters of RFC 3986 that cannot begin another host. */
const ownPage = /^\/dashboard(\/[\w./-]*)?(\?[\w.~%!$&'()*+,;=:@/?-]*)?$/;

const longestPage = 2048;

const isOwn = (page: string): boolean => page.length <= longestPage && ownPage.test(page);

/** Returns to the page after the sign-in. @param page path and query, as requested */
export const signInPathFor = (page: string): string =>
  page === firstPage || !isOwn(page)
    ? signInPath
    : `${signInPath}?next=${encodeURIComponent(page).replaceAll('%2F', '/')}`;

export const nextIn = (query: string): string | undefined => {
  const next = new URLSearchParams(query).get('next') ?? '';
  return isOwn(next) ? next : undefined;
};

export const pageAfterSignIn = (query: string): string => nextIn(query) ?? firstPage;

const byMail = { name: 'by', value: 'mail' } as const;

/** The address of a link sent by mail. @param next the page after the sign-in; the first page by default */
export const mailedLinkPath = (secret: string, next?: string): string => {
  const query = new URLSearchParams({ [byMail.name]: byMail.value });
  if (next !== undefined) query.set('next', next);
  return `${signInPath}/${secret}?${query.toString()}`;
};

export const isMailedLink = (query: Readonly<Record<string, unknown>>): boolean =>
  query[byMail.name] === byMail.value;

/** Formats the fields that have a value as `?page=2&added=www.birds.test`; empty without any. */
export const queryText = (
  fields: Readonly<Record<string, string | bigint | undefined>>,
): string => {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined && value !== '') query.set(name, String(value));
  }
  return query.size === 0 ? '' : `?${query.toString()}`;
};
