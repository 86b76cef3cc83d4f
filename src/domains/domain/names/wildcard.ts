/** `*.shop.example.com`: its first label stands for exactly one label of any text (RFC 9525, section 6.3). */
export const isWildcard = (host: string): boolean => host.startsWith('*.');

/** The name below which a wildcard is, which is proven for it and has its CAA records; any other name is its own. */
export const baseOf = (host: string): string => (isWildcard(host) ? host.slice(2) : host);

/** The only wildcard that can cover a name; undefined where none can. No wildcard covers another. */
export const wildcardOver = (host: string): string | undefined => {
  const dot = host.indexOf('.');
  return dot < 1 || isWildcard(host) ? undefined : `*${host.slice(dot)}`;
};

/** The names by which a host can be held or served, in the order in which they count: the exact one wins. */
export const namesFor = (host: string): readonly string[] => {
  const wildcard = wildcardOver(host);
  return wildcard === undefined ? [host] : [host, wildcard];
};

export const covers = (wildcard: string, host: string): boolean => wildcardOver(host) === wildcard;
