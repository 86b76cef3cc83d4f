import { DomainError } from '../../kernel/domain-error.ts';
import type { PeopleErrorCode } from '../domain/people-error.ts';
import type { Limits } from '../domain/plan.ts';
import { judge, secondsUntil } from '../domain/rate-quota.ts';
import { signInLimits } from '../domain/session.ts';
import type { AccessPorts } from '../ports.ts';

type Ports = Pick<AccessPorts, 'counters' | 'keyMaterial' | 'clock'>;

/** Counts a password or link that is tried from a network, right or wrong. @throws DomainError `too_many_sign_ins` */
export const admitAttemptFrom = (ports: Ports, network: string): Promise<void> =>
  admitAttempt(ports, `sign-in-from:${network}`, signInLimits.network);

/**
 * Counts a password that is tried for a person, right or wrong, wherever it is asked for.
 * @param email as `emailOf` gives it; also of nobody
 * @throws DomainError `too_many_sign_ins`
 */
export const admitAttemptFor = (ports: Ports, email: string): Promise<void> =>
  admitAttempt(ports, `sign-in:${ports.keyMaterial.sha256(email)}`, signInLimits.person);

const admitAttempt = async (
  { counters, clock }: Ports,
  subject: string,
  limits: Limits,
): Promise<void> => {
  const now = clock.now();
  const { allowed, counts } = await counters.take({ subject, limits, now });
  if (allowed) return;
  const { resetAt } = judge(limits, counts, false, now).speaks;
  throw new DomainError<PeopleErrorCode>(
    'too_many_sign_ins',
    `Too many attempts to sign in. Try again in ${inWords(secondsUntil(resetAt, now))}; a sign-in link works at once.`,
  );
};

const inWords = (seconds: number): string => {
  if (seconds <= 60) return seconds === 1 ? '1 second' : `${seconds} seconds`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 120 ? `${minutes} minutes` : `${Math.ceil(minutes / 60)} hours`;
};
