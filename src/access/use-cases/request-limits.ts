import { TooMany } from '../domain/access-error.ts';
import { askedByAccount, mayBeMailed } from '../domain/mail-request.ts';
import type { Person } from '../domain/person.ts';
import {
  askedCallLimits,
  dashboardLimits,
  type DashboardUse,
  sharedPageLimits,
  signInLimits,
} from '../domain/session.ts';
import type { SignedIn } from '../people-ports.ts';
import type { AccessPorts } from '../ports.ts';
import { unlessUnavailable } from './callers.ts';
import { waitBeforeAttempt, waitFrom } from './sign-in-attempts.ts';
import { inWords } from '../../kernel/text.ts';

type Ports = Pick<AccessPorts, 'counters' | 'clock'>;

/**
 * Counts all of the person's sessions together. Admits everything while the counters are unavailable, because the
 * person is known.
 * @throws TooMany
 */
export const admitUse =
  (ports: Ports) =>
  async ({ person }: SignedIn, use: DashboardUse): Promise<void> => {
    const limits = { perMinute: dashboardLimits[use], perDay: Number.MAX_SAFE_INTEGER };
    const subject = `dashboard-${use}:${person.id}`;
    const wait = await waitBeforeAttempt(ports, subject, limits).catch(unlessUnavailable);
    if (wait === undefined) return;
    const message = `You asked for more than ${dashboardLimits[use]} ${words[use]} in a minute. Try again in ${inWords(wait * 1000)}.`;
    throw new TooMany('too_many_requests', message, wait);
  };

/** Counts a visitor's request for a shared page, whether the link works or not. @throws TooMany */
export const admitSharedPage =
  (ports: Ports) =>
  async (network: string): Promise<void> => {
    const wait = await waitFrom(ports, { what: 'shared-from', network }, sharedPageLimits);
    if (wait === undefined) return;
    const message = `Too many requests from your network. Try again in ${inWords(wait * 1000)}.`;
    throw new TooMany('too_many_requests', message, wait);
  };

const words: Readonly<Record<DashboardUse, string>> = {
  pages: 'pages',
  forms: 'changes',
  streams: 'live pages',
};

/** Counts a requested call to a webhook, because its host may belong to a stranger. @throws TooMany */
export const admitAskedCall =
  (ports: Ports & Pick<AccessPorts, 'keyMaterial'>) =>
  async (accountId: string, host: string): Promise<void> => {
    const { ofAccount, toHost } = askedCallLimits;
    const wait =
      (await waitBeforeAttempt(ports, `asked-calls-of:${accountId}`, ofAccount)) ??
      (await waitBeforeAttempt(ports, `asked-calls-to:${ports.keyMaterial.sha256(host)}`, toHost));
    if (wait === undefined) return;
    const message = `Too many calls were requested. Try again in ${inWords(wait * 1000)}.`;
    throw new TooMany('too_many_requests', message, wait);
  };

/** Counts a link that a person of the account makes for somebody else, outside of any transaction. @throws TooMany */
export const admitInvitation =
  (ports: Pick<AccessPorts, 'counters' | 'clock'>) =>
  async (accountId: string): Promise<void> => {
    const subject = `invitations-of:${accountId}`;
    const wait = await waitBeforeAttempt(ports, subject, signInLimits.invitations);
    if (wait === undefined) return;
    const message = `Your account has invited too many people. Try again in ${inWords(wait * 1000)}.`;
    throw new TooMany('too_many_requests', message, wait);
  };

/** Counts another link for a colleague or oneself, like `admitInvitation`. @throws TooMany */
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
  const message = `You have created too many links. Try again in ${inWords(wait * 1000)}.`;
  throw new TooMany('too_many_requests', message, wait);
};

export const mayMailInvitation = async (
  { mailRequests, clock }: Pick<AccessPorts, 'mailRequests' | 'clock'>,
  { accountId, email }: Person,
): Promise<boolean> => {
  const now = clock.now();
  const before = await mailRequests.mailed(email, 'invitation', now);
  return mayBeMailed(askedByAccount(accountId), { before, personIds: [] }, now);
};
