/** What the answers of one resolver mean for one question. */
export type Finding<Right, Wrong> =
  | ({ readonly kind: 'right' } & Heard & Right)
  | ({ readonly kind: 'wrong' } & Heard & Wrong)
  /** It failed, so it says nothing: neither that the record is there nor that it is not. */
  | ({ readonly kind: 'failed' } & Heard);

interface Heard {
  readonly resolver: string;
  /** What was answered, in words. */
  readonly seen: string;
  /** Seconds for which the resolver goes on answering so, where it tells. */
  readonly ttl: number | undefined;
}

/** More than half of those asked; who failed does not agree to anything. */
export const isMajority = (count: number, asked: number): boolean => count > asked / 2;

/** `unknown`: too many failed to tell whether it is right. */
export const agreementOf = (
  findings: readonly { readonly kind: 'right' | 'wrong' | 'failed' }[],
): 'right' | 'wrong' | 'unknown' => {
  const count = (kind: 'right' | 'failed') => findings.filter((one) => one.kind === kind).length;
  if (isMajority(count('right'), findings.length)) return 'right';
  const failed = count('failed');
  const couldBeRight = isMajority(count('right') + failed, findings.length);
  return findings.length === 0 || (failed > 0 && couldBeRight) ? 'unknown' : 'wrong';
};

/** The one that is given most often, and of these the first. */
export const mostCommon = <One>(
  all: readonly One[],
  nameOf: (one: One) => string,
): One | undefined => {
  const counts = new Map<string, number>();
  for (const one of all) counts.set(nameOf(one), (counts.get(nameOf(one)) ?? 0) + 1);
  const most = Math.max(0, ...counts.values());
  return all.find((one) => counts.get(nameOf(one)) === most);
};
