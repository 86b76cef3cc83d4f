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

export interface Choice {
  /** The names of those that CAA allows, the preferred one first. */
  readonly mayIssue: readonly string[];
  /** What is known of them, and which one has the order under way. */
  readonly certificate: WantedCertificate | IssuedCertificate;
}

const attemptsOf = ({ certificate }: Choice): Attempts | undefined => certificate.work.attempts;

/** A new domain waits that long for the preferred authority. */
const patienceOfNewMs = 10 * 60_000;

const hour = 60 * 60_000;

/** Until then, an authority that is away is waited for. @returns undefined while it answers */
const patientUntil = (choice: Choice, authority: string): Date | undefined => {
  const { certificate } = choice;
  const attempts = attemptsOf(choice);
  const away = turnOf(choice, authority)?.awaySince;
  if (!away || !attempts) return undefined;
  // The clock may have been set back since.
  const awaySince = new Date(Math.min(away.getTime(), attempts.lastAt.getTime()));
  const wait =
    certificate.kind === 'issued' ? longestWait(certificate, awaySince) : patienceOfNewMs;
  return new Date(awaySince.getTime() + wait);
};

/**
 * Whether an authority has been away for longer than it is waited for. That it was away once, before nothing was tried for
 * a while, says nothing of today, unless it asked us to wait.
 */
const isGivenUp = (choice: Choice, authority: string, now: Date): boolean => {
  const { certificate } = choice;
  const attempts = attemptsOf(choice);
  const until = patientUntil(choice, authority);
  if (!attempts || !until || now < until) return false;
  const { failed, lastAt } = attempts;
  const wait = Math.min(waitAfter(failed), longestWait(certificate, lastAt));
  const isRecent = now.getTime() - lastAt.getTime() <= Math.max(hour, 2 * wait);
  return isRecent || (restsUntil(choice, authority) ?? now) > now;
};

/** When an authority accepts requests again. */
const restsUntil = (choice: Choice, authority: string): Date | undefined =>
  turnOf(choice, authority)?.retryAt;

const turnOf = (choice: Choice, authority: string): AuthorityTurn | undefined =>
  attemptsOf(choice)?.turns[authority];

/**
 * Which authority the next attempt goes to. The preferred one, unless CAA forbids it, or it has been away for long: then
 * they take turns, so that neither is forgotten, but one that asked us to wait is left alone.
 * @returns undefined when it is not known which may issue
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
 * When an attempt may be made that is due at that time: not before an authority accepts it, but as soon as another one
 * may be asked. An order under way is looked at when its own authority accepts that, whatever CAA says by now.
 */
export const turnAt = (choice: Choice, at: Date): Date => {
  const { mayIssue, certificate } = choice;
  const { work } = certificate;
  const own = work.step === 'ordered' ? work.authority : mayIssue[0];
  // Nobody knows which one it goes to.
  if (own === undefined) return latest(at, ...allRests(work.attempts));
  const alone = latest(at, restsUntil(choice, own));
  const another = mayIssue.find((one) => one !== own);
  const until = patientUntil(choice, own);
  if (another === undefined || !until) return alone;
  const isPatient = work.attempts !== undefined && until > work.attempts.lastAt;
  const other = latest(isPatient ? until : at, restsUntil(choice, another));
  return other < alone ? other : alone;
};

/** The next attempt, after the last one has rested and as soon as an authority accepts it. */
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

/** Whether the order that an authority has is given up, because it has been away for long and another one may be asked. */
export const isLeft = (choice: Choice, authority: string, now: Date): boolean => {
  const next = chooseAuthority(choice, now);
  return isGivenUp(choice, authority, now) && next !== undefined && next !== authority;
};

interface Failing {
  readonly isAway: boolean;
  readonly retryAt: Date | undefined;
  /** When the order was begun that it has taken: since then it has answered. */
  readonly placed: Date | undefined;
}

/** What is known of an authority after it failed. */
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
