import {
  waitAfter,
  type Attempts,
  type AuthorityTurn,
  latest,
  longestWait,
  restedAt,
  type IssuedCertificate,
  type PlannedWork,
  type WantedCertificate,
} from './certificate-status.ts';
import { hourMs } from '../../../kernel/durations.ts';

export interface Choice {
  readonly mayIssue: readonly string[];
  readonly certificate: WantedCertificate | IssuedCertificate;
}

const attemptsOf = ({ certificate }: Choice): Attempts | undefined => certificate.work.attempts;

const patienceOfNewMs = 10 * 60_000;

const patientUntil = (choice: Choice, authority: string): Date | undefined => {
  const { certificate } = choice;
  const attempts = attemptsOf(choice);
  const away = turnOf(choice, authority)?.awaySince;
  if (!away || !attempts) return undefined;
  // The clock may have been set back.
  const awaySince = new Date(Math.min(away.getTime(), attempts.lastAt.getTime()));
  const wait =
    certificate.kind === 'issued' ? longestWait(certificate, awaySince) : patienceOfNewMs;
  return new Date(awaySince.getTime() + wait);
};

/** An old outage does not count if nothing was tried since, unless the authority asked us to wait. */
const isGivenUp = (choice: Choice, authority: string, now: Date): boolean => {
  const { certificate } = choice;
  const attempts = attemptsOf(choice);
  const until = patientUntil(choice, authority);
  if (!attempts || !until || now < until) return false;
  const { failed, lastAt } = attempts;
  const wait = Math.min(waitAfter(failed), longestWait(certificate, lastAt));
  const isRecent = now.getTime() - lastAt.getTime() <= Math.max(hourMs, 2 * wait);
  return isRecent || (restsUntil(choice, authority) ?? now) > now;
};

const restsUntil = (choice: Choice, authority: string): Date | undefined =>
  turnOf(choice, authority)?.retryAt;

const turnOf = (choice: Choice, authority: string): AuthorityTurn | undefined =>
  attemptsOf(choice)?.turns[authority];

/**
 * Chooses the authority for the next attempt: the preferred one, unless CAA forbids it or it has been away too
 * long. Then the authorities alternate, except one that asked us to wait.
 * @returns undefined if no authority is known to be allowed
 */
export const chooseAuthority = (choice: Choice, now: Date): string | undefined => {
  const [first, second] = choice.mayIssue;
  if (first === undefined || second === undefined) return first;
  if (!isGivenUp(choice, first, now)) return first;
  const ready = [second, first].filter((one) => (restsUntil(choice, one) ?? now) <= now);
  if (ready.length === 1) return ready[0];
  return attemptsOf(choice)?.lastBy === second ? first : second;
};

/**
 * When an attempt that is due at `at` may be made: once an authority accepts it, or another one may be asked. An
 * order in progress waits for its own authority, even if CAA now forbids it.
 */
export const turnAt = (choice: Choice, at: Date): Date => {
  const { mayIssue, certificate } = choice;
  const { work } = certificate;
  const own = work.step === 'ordered' ? work.authority : mayIssue[0];
  if (own === undefined) return latest(at, ...allRests(work.attempts));
  const alone = latest(at, restsUntil(choice, own));
  const another = mayIssue.find((one) => one !== own);
  const until = patientUntil(choice, own);
  if (another === undefined || !until) return alone;
  const isPatient = work.attempts !== undefined && until > work.attempts.lastAt;
  const other = latest(isPatient ? until : at, restsUntil(choice, another));
  return other < alone ? other : alone;
};

export const resumed = (
  certificate: WantedCertificate | IssuedCertificate,
  mayIssue: readonly string[],
  now: Date,
): PlannedWork => {
  const { attempts, problem } = certificate.work;
  const at = turnAt({ mayIssue, certificate }, latest(now, restedAt(certificate)));
  return { step: 'planned', at, attempts, problem };
};

const allRests = (attempts: Attempts | undefined): readonly (Date | undefined)[] =>
  Object.values(attempts?.turns ?? {}).map(({ retryAt }) => retryAt);

export const isLeft = (choice: Choice, authority: string, now: Date): boolean => {
  const next = chooseAuthority(choice, now);
  return isGivenUp(choice, authority, now) && next !== undefined && next !== authority;
};

interface Failing {
  readonly isAway: boolean;
  readonly retryAt: Date | undefined;
  /** When the authority's current order began; it has answered since. */
  readonly placed: Date | undefined;
}

export const turnAfter = (
  before: AuthorityTurn | undefined,
  { isAway, retryAt, placed }: Failing,
  now: Date,
): AuthorityTurn => {
  const known = before?.awaySince;
  const awaySince = known && (!placed || known >= placed) ? known : now;
  return {
    awaySince: isAway ? awaySince : undefined,
    retryAt: retryAt ? latest(retryAt, before?.retryAt) : before?.retryAt,
  };
};
