import { covers } from '../names/wildcard.ts';
import type { CustomDomain } from './custom-domain.ts';

/** Visitors of a verified name come here, but its certificate is not there yet. */
export const awaitsCertificate = ({ state }: Pick<CustomDomain, 'state'>): boolean =>
  state === 'verified';

/** Whether the wildcard of another account must not answer for this name, although it covers it. */
export const isWithheldFrom = (
  domain: Pick<CustomDomain, 'state' | 'host' | 'accountId'>,
  wildcard: Pick<CustomDomain, 'host' | 'accountId'>,
): boolean =>
  awaitsCertificate(domain) &&
  covers(wildcard.host, domain.host) &&
  wildcard.accountId !== domain.accountId;
