import { TooMany } from '../domain/people-error.ts';
import type { Limits } from '../domain/plan.ts';
import { judge, secondsUntil } from '../domain/rate-quota.ts';
import { signInLimits } from '../domain/session.ts';
import type { AccessPorts } from '../ports.ts';

type Ports = Pick<AccessPorts, 'counters' | 'keyMaterial' | 'clock'>;
type CountingPorts = Pick<AccessPorts, 'counters' | 'clock'>;

/** Counts a password or link that is tried from a network, right or wrong. @throws TooMany */
export const admitAttemptFrom = async (ports: Ports, network: string): Promise<void> => {
  const wait = await waitBeforeAttempt(ports, `sign-in-from:${network}`, signInLimits.network);
  if (wait === undefined) return;
  const message = `Too many attempts to sign in from your network. Try again in ${inWords(wait)}.`;
  throw new TooMany('too_many_sign_ins', message, wait);
};

/**
 * Counts a password that is tried for a person, right or wrong, wherever it is asked for. Links are not refused.
 * @param email as `emailOf` gives it; also of nobody
 * @throws TooMany
 */
export const admitAttemptFor = async (ports: Ports, email: string): Promise<void> => {
  const subject = `sign-in:${ports.keyMaterial.sha256(email)}`;
  const wait = await waitBeforeAttempt(ports, subject, signInLimits.person);
  if (wait === undefined) return;
  const when = `Try again in ${inWords(wait)}, or use a sign-in link, which works at once.`;
  throw new TooMany('too_many_sign_ins', `Too many attempts with a password. ${when}`, wait);
};

/** @returns seconds until the next one is admitted; undefined when this one is */
export const waitBeforeAttempt = async (
  { counters, clock }: CountingPorts,
  subject: string,
  limits: Limits,
): Promise<number | undefined> => {
  const now = clock.now();
  const { allowed, counts } = await counters.take({ subject, limits, now });
  return allowed ? undefined : secondsUntil(judge(limits, counts, false, now).speaks.resetAt, now);
};

export const inWords = (seconds: number): string => {
  if (seconds <= 60) return seconds === 1 ? '1 second' : `${seconds} seconds`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 120 ? `${minutes} minutes` : `${Math.ceil(minutes / 60)} hours`;
};
