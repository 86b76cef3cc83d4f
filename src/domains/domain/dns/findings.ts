import { agreementOf, mostCommon, type Finding } from './agreement.ts';
import { dnsProblem, type DnsProblem } from './problem.ts';

/** What one resolver's answers mean, whatever the question was. */
export type Judged = Finding<unknown, { readonly problems: readonly DnsProblem[] }>;

/**
 * What is wrong, the worst first.
 * @param questions for each, a finding of every resolver
 */
export const problemsIn = (questions: readonly (readonly Judged[])[]): readonly DnsProblem[] => [
  ...questions.flatMap(blockersOf),
  ...lookupFailure(questions.filter((findings) => agreementOf(findings) === 'unknown')),
  ...questions.flatMap(dissentIn),
];

const blockersOf = (findings: readonly Judged[]): readonly DnsProblem[] => {
  if (agreementOf(findings) !== 'wrong') return [];
  const wrong = findings.filter((one) => one.kind === 'wrong');
  const codesOf = (one: (typeof wrong)[number]) => one.problems.map(({ code }) => code).join(' ');
  return mostCommon(wrong, codesOf)?.problems ?? [];
};

const lookupFailure = (unknown: readonly (readonly Judged[])[]): readonly DnsProblem[] => {
  const failed = unknown.flat().filter(({ kind }) => kind === 'failed');
  const seen = failed.map((one) => `${one.resolver}: ${one.seen}`).join('; ') || 'no answer';
  const wanted = 'the same answer from more than half of the resolvers';
  return unknown.length > 0 ? [dnsProblem('dns_lookup_failed', { seen, wanted })] : [];
};

/** Resolvers that do not yet see what the others see. */
const dissentIn = (findings: readonly Judged[]): readonly DnsProblem[] => {
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
