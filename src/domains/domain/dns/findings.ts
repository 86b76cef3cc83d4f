import { largestAnswer, type DnsFailure } from './facts.ts';
import { dnsProblem, type DnsProblem } from './problem.ts';

/** What the answers of one resolver mean for one question. */
export type Finding<Right = unknown> =
  | ({ readonly kind: 'right' } & Heard & Right)
  | ({ readonly kind: 'wrong'; readonly problems: readonly DnsProblem[] } & Heard)
  /** The lookup failed, so it neither proves nor disproves the record. */
  | ({ readonly kind: 'failed' } & Heard);

interface Heard {
  readonly resolver: string;
  readonly seen: string;
  /** Seconds for which the resolver keeps this answer, if it says so. */
  readonly ttl: number | undefined;
}

const tooLarge = `at most ${largestAnswer.records} records and ${largestAnswer.characters} characters in one answer`;

/** A too large answer is an answer, so it is wrong; other failures prove nothing. @param place where they were asked for */
export const unanswered = (
  resolver: string,
  reason: DnsFailure,
  type: string,
  place = type,
): Finding => {
  const heard = { resolver, ttl: undefined };
  if (reason !== 'too_large') return { ...heard, kind: 'failed', seen: `${place}: ${reason}` };
  const found = { seen: `${place}: too large`, wanted: tooLarge };
  const problems = [dnsProblem('dns_answer_too_large', found)];
  return { ...heard, kind: 'wrong', seen: `${type}: too large`, problems };
};

/** More than half of those asked; a failed lookup does not agree. */
export const isMajority = (count: number, asked: number): boolean => count > asked / 2;

/** `unknown`: too many lookups failed to decide. */
export const agreementOf = (findings: readonly Finding[]): 'right' | 'wrong' | 'unknown' => {
  const count = (kind: 'right' | 'failed') => findings.filter((one) => one.kind === kind).length;
  if (isMajority(count('right'), findings.length)) return 'right';
  const failed = count('failed');
  const couldBeRight = isMajority(count('right') + failed, findings.length);
  return findings.length === 0 || (failed > 0 && couldBeRight) ? 'unknown' : 'wrong';
};

/**
 * What is wrong, the worst first.
 * @param questions for each, a finding of every resolver
 */
export const problemsIn = (questions: readonly (readonly Finding[])[]): readonly DnsProblem[] => [
  ...questions.flatMap(blockersOf),
  ...lookupFailure(questions.filter((findings) => agreementOf(findings) === 'unknown')),
  ...questions.flatMap(dissentIn),
];

const blockersOf = (findings: readonly Finding[]): readonly DnsProblem[] => {
  if (agreementOf(findings) !== 'wrong') return [];
  const wrong = findings.filter((one) => one.kind === 'wrong');
  const codesOf = (one: (typeof wrong)[number]) => one.problems.map(({ code }) => code).join(' ');
  return mostCommon(wrong, codesOf)?.problems ?? [];
};

const lookupFailure = (unknown: readonly (readonly Finding[])[]): readonly DnsProblem[] => {
  const failed = unknown.flat().filter(({ kind }) => kind === 'failed');
  const seen = failed.map((one) => `${one.resolver}: ${one.seen}`).join('; ') || 'no answer';
  const wanted = 'the same answer from more than half of the resolvers';
  return unknown.length > 0 ? [dnsProblem('dns_lookup_failed', { seen, wanted })] : [];
};

/** Resolvers that do not yet see what the others see. */
const dissentIn = (findings: readonly Finding[]): readonly DnsProblem[] => {
  const agreed = findings.find(({ kind }) => kind === 'right');
  if (!agreed) return [];
  return findings
    .filter(({ kind }) => kind === 'wrong')
    .map(({ resolver, seen, ttl }) =>
      dnsProblem('propagation_incomplete', {
        seen: `${resolver} answers ${seen}${ttl === undefined ? '' : ` for up to ${ttl} s more`}`,
        wanted: agreed.seen,
        resolver,
      }),
    );
};

/** The most frequent one; of several, the first. */
const mostCommon = <One>(all: readonly One[], nameOf: (one: One) => string): One | undefined => {
  const counts = new Map<string, number>();
  for (const one of all) counts.set(nameOf(one), (counts.get(nameOf(one)) ?? 0) + 1);
  const most = Math.max(0, ...counts.values());
  return all.find((one) => counts.get(nameOf(one)) === most);
};
