import type { ResolverFacts } from './facts.ts';
import { unanswered, type Finding } from './findings.ts';
import { dnsProblem } from './problem.ts';
import { firstThose, listed, shortened } from './shortened.ts';
import { challengeNameOf, ownershipValueOf } from './records.ts';

/** Longest TXT record that is considered, in characters: ours, with room for quotes and blanks that editors add. */
const longestText = 1024;

const isValue = (text: string, value: string): boolean =>
  text.length <= longestText && text.trim() === value;

/** Whether one resolver sees our TXT record. Other TXT records beside it are fine. */
export const judgeOwnership = (
  { resolver, txt }: Pick<ResolverFacts, 'resolver' | 'txt'>,
  { host, token }: { readonly host: string; readonly token: string },
): Finding => {
  const value = ownershipValueOf(token);
  const wanted = `${challengeNameOf(host)} TXT "${value}"`;
  switch (txt.kind) {
    case 'failed':
      return unanswered(resolver, txt.reason, 'TXT');
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
