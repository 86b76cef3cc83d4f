import { TooMany } from '../domain/people-error.ts';
import {
  askedCallLimits,
  dashboardLimits,
  sharedPageLimits,
  type DashboardUse,
} from '../domain/session.ts';
import type { SignedIn } from '../people-ports.ts';
import type { AccessPorts } from '../ports.ts';
import { inWords } from '../../kernel/text.ts';
import { unlessUnavailable } from './meter-request.ts';
import { waitBeforeAttempt, waitFrom } from './sign-in-attempts.ts';

type Ports = Pick<AccessPorts, 'counters' | 'clock'>;

/**
 * Counts the dashboard requests of a signed-in person, over all their sessions. Admits everything while the counters
 * are unavailable, since the person is known.
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

/** Counts a page that a visitor asks for by a link, whether the link works or not. @throws TooMany */
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

/** Counts a call to a webhook that somebody asks for: its host may belong to a stranger. @throws TooMany */
export const admitAskedCall =
  (ports: Ports & Pick<AccessPorts, 'keyMaterial'>) =>
  async (accountId: string, host: string): Promise<void> => {
    const { ofAccount, toHost } = askedCallLimits;
    const wait =
      (await waitBeforeAttempt(ports, `asked-calls-of:${accountId}`, ofAccount)) ??
      (await waitBeforeAttempt(ports, `asked-calls-to:${ports.keyMaterial.sha256(host)}`, toHost));
    if (wait === undefined) return;
    const message = `Too many calls were asked for. Try again in ${inWords(wait * 1000)}.`;
    throw new TooMany('too_many_requests', message, wait);
  };
