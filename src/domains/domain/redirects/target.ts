/** Whether it is meant as an address rather than a host: then only http and https will do. */
export const isAbsolute = (to: string): boolean => /^[a-z][a-z0-9+.-]*:|^[/\\]/i.test(to.trim());

/** The host that a redirect leads to. @param to as it is kept */
export const hostIn = (to: string): string => (isAbsolute(to) ? new URL(to).hostname : to);

/** Characters. */
export const longestAddress = 1000;

/** @returns the address as stored, or undefined if a redirect may not lead there */
export const absoluteTarget = (raw: string): string | undefined => {
  if (raw.length > longestAddress) return undefined;
  const text = raw.trim();
  // Browsers also take `https:example.com` and control characters; a person would misread both.
  if (!/^https?:\/\/[^/\\\s]+/i.test(text) || /[\s\\\p{Cc}]/u.test(text)) return undefined;
  const url = URL.parse(text);
  if (!url || url.username || url.password || /[?#]/.test(text)) return undefined;
  // With a dot at the end the DNS sees the same host, but string comparison does not.
  url.hostname = url.hostname.replace(/\.$/, '');
  if (url.hostname.split('.').includes('')) return undefined;
  return url.pathname === '/' ? url.origin : url.href;
};

/**
 * Where a redirect sends a visitor, with path and query kept.
 * @param path as it was requested, beginning with a slash
 * @param query without the question mark; '' for none
 */
export const redirectTarget = (to: string, path: string, query: string): string => {
  const base = isAbsolute(to) ? to.replace(/\/$/, '') : `https://${to}`;
  // Without the slash, the path could extend the host name.
  const rooted = path.startsWith('/') ? path : `/${path}`;
  return `${base}${rooted}${query === '' ? '' : `?${query}`}`;
};
