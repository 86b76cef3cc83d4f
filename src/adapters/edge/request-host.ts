export const hostNamed = (authority: string | undefined): string | undefined => {
  const [, name, port] = authorityPattern.exec(authority ?? '') ?? [];
  if (name === undefined || Number(port ?? '1') > 65535 || port === '0') return undefined;
  return name.toLowerCase();
};

export const portNamed = (authority: string): number | undefined => {
  const [, port] = /:(\d{1,5})$/.exec(authority) ?? [];
  return port === undefined ? undefined : Number(port);
};

/** RFC 9110, section 7.2, restricted to DNS names: no user info and no IP literals. */
const authorityPattern = /^([A-Za-z0-9_](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9_])?)\.?(?::(\d{1,5}))?$/;

export interface RequestTarget {
  readonly host: string;
  readonly path: string;
}

/** Compares `Host` with an absolute-form URL (RFC 9112, section 3.2.2). @returns undefined if they differ */
export const requestTargetOf = (
  url: string,
  authority: string | undefined,
): RequestTarget | undefined => {
  const host = hostNamed(authority);
  if (host === undefined) return undefined;
  if (url.startsWith('/')) return { host, path: url };
  const [, named, path] = /^https?:\/\/([^/?#]*)((?:[/?][^#]*)?)$/i.exec(url) ?? [];
  if (hostNamed(named) !== host) return undefined;
  return { host, path: path?.startsWith('/') ? path : `/${path ?? ''}` };
};
