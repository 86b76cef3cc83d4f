/** What the answers of one resolver mean for one question. */
export type Finding<Right, Wrong> =
  | ({ readonly kind: 'right' } & Heard & Right)
  | ({ readonly kind: 'wrong' } & Heard & Wrong)
  /** The lookup failed, so it neither proves nor disproves the record. */
  | ({ readonly kind: 'failed' } & Heard);

interface Heard {
  readonly resolver: string;
  /** What was answered, in words. */
  readonly seen: string;
  /** Seconds for which the resolver keeps this answer, if it says so. */
  readonly ttl: number | undefined;
}

/** More than half of those asked; a failed lookup does not agree. */
export const isMajority = (count: number, asked: number): boolean => count > asked / 2;

/** `unknown`: too many lookups failed to decide. */
export const agreementOf = (
  findings: readonly { readonly kind: 'right' | 'wrong' | 'failed' }[],
): 'right' | 'wrong' | 'unknown' => {
  const count = (kind: 'right' | 'failed') => findings.filter((one) => one.kind === kind).length;
  if (isMajority(count('right'), findings.length)) return 'right';
  const failed = count('failed');
  const couldBeRight = isMajority(count('right') + failed, findings.length);
  return findings.length === 0 || (failed > 0 && couldBeRight) ? 'unknown' : 'wrong';
};

/** The most frequent one; of several, the first. */
export const mostCommon = <One>(
  all: readonly One[],
  nameOf: (one: One) => string,
): One | undefined => {
  const counts = new Map<string, number>();
  for (const one of all) counts.set(nameOf(one), (counts.get(nameOf(one)) ?? 0) + 1);
  const most = Math.max(0, ...counts.values());
  return all.find((one) => counts.get(nameOf(one)) === most);
};
