/** What an authority issued for one host. PEM: the leaf first, then the intermediates; PKCS #8 for the key. */
export interface Certificate extends Validity {
  readonly host: string;
  readonly chain: string;
  readonly privateKey: string;
}

export interface Validity {
  readonly notBefore: Date;
  readonly notAfter: Date;
}

/**
 * A route's name as a host: one without a dot is a label below the platform host, so that routes stay right
 * when that changes.
 */
export const hostOf = (routeName: string, platformHost: string): string =>
  routeName.includes('.') ? routeName : `${routeName}.${platformHost}`;
