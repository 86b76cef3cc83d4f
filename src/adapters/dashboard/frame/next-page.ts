export const signInPath = '/dashboard/sign-in';

const firstPage = '/dashboard';
/** A path below ours and perhaps a query, in the characters of RFC 3986 only: none of them can begin another host. */
const ownPage = /^\/dashboard(\/[\w./-]*)?(\?[\w.~%!$&'()*+,;=:@/?-]*)?$/;

/** Characters: filters of our pages have some hundred. */
const longestPage = 2048;

const isOwn = (page: string): boolean => page.length <= longestPage && ownPage.test(page);

/** The sign-in that leads on to a page. @param page path and query, as they were asked for */
export const signInPathFor = (page: string): string =>
  page === firstPage || !isOwn(page)
    ? signInPath
    : `${signInPath}?next=${encodeURIComponent(page).replaceAll('%2F', '/')}`;

/** @returns the page to return to after the sign-in: one of ours, or the first one. Never an address elsewhere */
export const pageAfterSignIn = (query: string): string => {
  const next = new URLSearchParams(query).get('next') ?? '';
  return isOwn(next) ? next : firstPage;
};
