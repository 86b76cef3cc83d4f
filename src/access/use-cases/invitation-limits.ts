import { inWords } from '../../kernel/text.ts';
import { askedByAccount, mayBeMailed } from '../domain/mail-request.ts';
import { TooMany } from '../domain/people-error.ts';
import type { Person } from '../domain/person.ts';
import { signInLimits } from '../domain/session.ts';
import type { SignedIn } from '../people-ports.ts';
import type { AccessPorts } from '../ports.ts';
import { waitBeforeAttempt } from './sign-in-attempts.ts';

/** Counts a link that somebody of the account makes for somebody else, outside of any transaction. @throws TooMany */
export const admitInvitation =
  (ports: Pick<AccessPorts, 'counters' | 'clock'>) =>
  async (accountId: string): Promise<void> => {
    const subject = `invitations-of:${accountId}`;
    const wait = await waitBeforeAttempt(ports, subject, signInLimits.invitations);
    if (wait === undefined) return;
    const message = `Your account has invited too many people. Try again in ${inWords(wait * 1000)}.`;
    throw new TooMany('too_many_requests', message, wait);
  };

/** The same for another link, for a colleague or for oneself. @throws TooMany */
export const admitNewLink =
  (ports: Pick<AccessPorts, 'counters' | 'clock'>) =>
  ({ person: maker }: SignedIn, personId: string): Promise<void> =>
    personId === maker.id ? admitOwnLink(ports, personId) : admitInvitation(ports)(maker.accountId);

const admitOwnLink = async (
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
