import { inWords } from '../../kernel/in-words.ts';
import { askedByAccount, mayBeMailed } from '../domain/mail-request.ts';
import { TooMany } from '../domain/people-error.ts';
import type { Person } from '../domain/person.ts';
import { signInLimits } from '../domain/session.ts';
import type { AccessPorts } from '../ports.ts';
import { waitBeforeAttempt } from './sign-in-attempts.ts';

/** Counts a link that somebody of the account makes for somebody else. @throws TooMany */
export const admitInvitation = async (
  ports: Pick<AccessPorts, 'counters' | 'clock'>,
  accountId: string,
): Promise<void> => {
  const wait = await waitBeforeAttempt(
    ports,
    `invitations-of:${accountId}`,
    signInLimits.invitations,
  );
  if (wait === undefined) return;
  const message = `Your account has invited too many people. Try again in ${inWords(wait * 1000)}.`;
  throw new TooMany('too_many_requests', message, wait);
};

/** Counts a link that a person makes for themselves. @throws TooMany */
export const admitOwnLink = async (
  ports: Pick<AccessPorts, 'counters' | 'clock'>,
  personId: string,
): Promise<void> => {
  const wait = await waitBeforeAttempt(ports, `own-links-of:${personId}`, signInLimits.ownLinks);
  if (wait === undefined) return;
  const message = `You have made too many links. Try again in ${inWords(wait * 1000)}.`;
  throw new TooMany('too_many_requests', message, wait);
};

/** Whether the address gets another invitation by mail. */
export const mayMailInvitation = async (
  { mailRequests, clock }: Pick<AccessPorts, 'mailRequests' | 'clock'>,
  { accountId, email }: Person,
): Promise<boolean> => {
  const now = clock.now();
  const before = await mailRequests.mailed(email, 'invitation', now);
  return mayBeMailed(askedByAccount(accountId), { before, personIds: [] }, now);
};
