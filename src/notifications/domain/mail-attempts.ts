import type { Mail } from './mail.ts';

const minute = 60_000;
const longestMs = 120 * minute;
const dayMs = 24 * 60 * minute;

/** After the first failure a minute, then 2, 4, 8 … at most two hours. */
const waitMs = (attempts: number): number => Math.min(minute * 2 ** attempts, longestMs);

/** The last attempt is a minute earlier, since it takes its time. */
const lastMs = minute;

/**
 * From then on a mail is not sent any more: what it tells is old, or the link in it has ended.
 * @param sendAt when it is sent for the first time
 */
export const endOf = (mail: Mail, sendAt: Date): Date => {
  const isForLink = mail.kind === 'person.invited' || mail.kind === 'sign_in.link';
  const linkEnds = isForLink ? new Date(mail.about.until).getTime() : Infinity;
  return new Date(Math.min(linkEnds, triedUntil(sendAt)));
};

const triedUntil = (sendAt: Date): number => sendAt.getTime() + dayMs + lastMs;

/**
 * When to try a message again after a failure.
 * @param attempts that failed before it
 * @param until see `endOf`
 * @returns undefined if that was the last attempt
 */
export const nextAttempt = (
  { attempts, until }: { readonly attempts: number; readonly until: Date },
  now: Date,
): Date | undefined => {
  const last = until.getTime() - lastMs;
  if (now.getTime() >= last) return undefined;
  return new Date(Math.min(now.getTime() + waitMs(attempts), last));
};
