/** A mail that is due. */
export interface DueMail {
  /** The id of its message. */
  readonly message: string;
  readonly accountId: string;
  /** Of a personal kind. */
  readonly isPersonal: boolean;
}

/**
 * Chooses the messages that are sent next: those of personal kinds first, because somebody waits for them; then of the account
 * whose last turn is longest ago; then those that are due longest. So no account holds back the mail of another.
 * @param due in the order in which they are due
 * @param lately accounts that had a turn, the latest last
 */
export const inTurns = (
  due: readonly DueMail[],
  lately: readonly string[],
  limit: number,
): readonly string[] => {
  const lastTurn = new Map(lately.map((accountId, at) => [accountId, at]));
  const turnOf = ({ accountId }: DueMail) => lastTurn.get(accountId) ?? -1;
  const left = new Map(due.map((mail) => [mail.message, mail]));
  const chosen: string[] = [];
  while (chosen.length < limit && left.size > 0) {
    const next = [...left.values()].reduce((best, one) => {
      const isSooner = one.isPersonal === best.isPersonal && turnOf(one) < turnOf(best);
      return isSooner || (one.isPersonal && !best.isPersonal) ? one : best;
    });
    left.delete(next.message);
    lastTurn.set(next.accountId, lately.length + chosen.length);
    chosen.push(next.message);
  }
  return chosen;
};
