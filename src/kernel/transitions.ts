/** A lifecycle as a table: from each state, the states it may go to. */
export type Transitions<State extends string> = Readonly<Record<State, readonly State[]>>;

/** @returns why `thing` may not go from one state to the other, or undefined when it may */
export const refusedTransition = <State extends string>(
  table: Transitions<State>,
  thing: string,
  from: State,
  to: State,
): string | undefined => {
  const allowed = table[from];
  if (allowed.includes(to)) return undefined;
  const instead = allowed.length > 0 ? `it can become ${allowed.join(' or ')}` : 'that is final';
  if (from === to) return `${thing} is ${from} already; ${instead}.`;
  return `${thing} is ${from} and cannot become ${to}; ${instead}.`;
};
