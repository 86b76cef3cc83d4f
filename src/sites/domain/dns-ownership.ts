import type { Finding } from './dns-agreement.ts';
import type { ResolverFacts } from './dns-facts.ts';
import { dnsProblem, type DnsProblem } from './dns-problem.ts';
import { challengeNameOf, ownershipValueOf } from './dns-records.ts';

export type OwnershipFinding = Finding<unknown, { readonly problems: readonly DnsProblem[] }>;

/** Whether the TXT record stands there, as one resolver sees it. Others may stand beside it. */
export const judgeOwnership = (
  { resolver, txt }: Pick<ResolverFacts, 'resolver' | 'txt'>,
  { host, token }: { readonly host: string; readonly token: string },
): OwnershipFinding => {
  const value = ownershipValueOf(token);
  const wanted = `${challengeNameOf(host)} TXT "${value}"`;
  switch (txt.kind) {
    case 'failed':
      return { kind: 'failed', resolver, seen: `TXT: ${txt.reason}`, ttl: undefined };
    case 'none':
    case 'no_such_name': {
      const seen = 'no TXT record';
      const problems = [dnsProblem('ownership_txt_missing', { seen, wanted })];
      return { kind: 'wrong', resolver, seen, ttl: undefined, problems };
    }
    case 'records': {
      const { ttl, records } = txt;
      const seen = `TXT ${records.map((text) => JSON.stringify(text)).join(', ')}`;
      if (records.some((text) => text.trim() === value))
        return { kind: 'right', resolver, seen, ttl };
      const problems = [dnsProblem('ownership_txt_mismatch', { seen, wanted })];
      return { kind: 'wrong', resolver, seen, ttl, problems };
    }
  }
};
