import type { CustomDomain } from '../domain/attachment/custom-domain.ts';
import { isAttached } from '../domain/attachment/serving.ts';
import { isWildcard } from '../domain/names/wildcard.ts';
import type { CustomDomains } from '../custom-domain-ports.ts';

/** Of the wildcard of the same project that has the same challenge name: that one has no other proof. */
export const sharedTokenOf = async (
  domains: Pick<CustomDomains, 'find'>,
  { host, projectId }: CustomDomain,
): Promise<string | undefined> => {
  const wildcard = isWildcard(host) ? undefined : await domains.find(projectId, `*.${host}`);
  return wildcard && isAttached(wildcard) ? wildcard.token : undefined;
};
