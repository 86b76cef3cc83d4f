import type { Finding } from './dns-agreement.ts';
import type { ResolverFacts } from './dns-facts.ts';
import { dnsProblem, tooLarge, type DnsProblem } from './dns-problem.ts';
import { firstThose, listed, shortened } from './shortened.ts';
import { challengeNameOf, ownershipValueOf } from './dns-records.ts';

export type OwnershipFinding = Finding<unknown, { readonly problems: readonly DnsProblem[] }>;

/** Characters of a TXT record that is looked at: ours, with room for what editors put around it. */
const longestText = 1024;

const isValue = (text: string, value: string): boolean =>
  text.length <= longestText && text.trim() === value;

/** Whether the TXT record stands there, as one resolver sees it. Others may stand beside it. */
export const judgeOwnership = (
  { resolver, txt }: Pick<ResolverFacts, 'resolver' | 'txt'>,
  { host, token }: { readonly host: string; readonly token: string },
): OwnershipFinding => {
  const value = ownershipValueOf(token);
  const wanted = `${challengeNameOf(host)} TXT "${value}"`;
  switch (txt.kind) {
    case 'failed':
      if (txt.reason === 'too_large') {
        const problems = [tooLarge('TXT')];
        return { kind: 'wrong', resolver, seen: 'TXT: too large', ttl: undefined, problems };
      }
      return { kind: 'failed', resolver, seen: `TXT: ${txt.reason}`, ttl: undefined };
    case 'none':
    case 'no_such_name': {
      const seen = 'no TXT record';
      const problems = [dnsProblem('ownership_txt_missing', { seen, wanted })];
      return { kind: 'wrong', resolver, seen, ttl: undefined, problems };
    }
    case 'records': {
      const { ttl, records } = txt;
      const isOurs = (text: string) => isValue(text, value);
      const texts = firstThose(records, isOurs).map((text) => JSON.stringify(shortened(text)));
      const seen = `TXT ${listed(texts)}`;
      if (records.some(isOurs)) return { kind: 'right', resolver, seen, ttl };
      const problems = [dnsProblem('ownership_txt_mismatch', { seen, wanted })];
      return { kind: 'wrong', resolver, seen, ttl, problems };
    }
  }
};
