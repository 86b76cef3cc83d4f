import { isUrgent, subjectOf } from './kinds.ts';
import type { Notification, NotificationKind, NotificationContent } from './notification.ts';
import { minuteMs, dayMs } from '../../kernel/durations.ts';

export type Mail = Notification & {
  readonly personId: string;
  readonly to: string;
};

export interface PlannedMail {
  readonly kind: string;
  readonly subject: string | undefined;
  readonly message: string;
  readonly sendAt: Date;
  readonly isOpen: boolean;
}

/** `undefined`: no message is sent. `cancels`: a waiting message that is no longer true is not sent either. */
export type MailPlan = Planned | { readonly cancels: string } | undefined;
export type Planned = Pick<PlannedMail, 'message' | 'sendAt'>;

const opposites: readonly (readonly [NotificationKind, NotificationKind])[] = [
  ['domain.unhealthy', 'domain.recovered'],
  ['certificate.failing', 'certificate.recovered'],
];

const windowMs = 10 * minuteMs;
/** Limit per person within ten minutes. */
export const mostMessages = 5;

/** `planMail` needs the mails from this time on, by `sendAt`. */
export const plannedSince = (now: Date): Date => new Date(now.getTime() - dayMs);

/**
 * A person gets one mail per kind and subject each day, and at most five messages in ten minutes. Further mails
 * wait and are sent as one summary. Urgent and personal mails are sent at once; personal ones do not count. See
 * `afterSame` for repetitions.
 * @param before the person's mails since `plannedSince`, without those that are not sent
 */
export const planMail = (mail: Mail, before: readonly PlannedMail[], now: Date): MailPlan => {
  const subject = subjectOf(mail);
  const alone = { message: mail.id, sendAt: now };
  if (subject === undefined) return alone;
  const today = before.filter((one) => isToday(one, now) && one.subject === subject);
  const same = latest(today, (kind) => kind === mail.kind);
  if (same) return afterSame(mail, { same, before }, now);
  if (isUrgent(mail.kind)) return alone;
  const soon = now.getTime() + windowMs;
  const limited = before.filter((one) => one.subject !== undefined && one.sendAt.getTime() <= soon);
  const summary = limited.find(({ sendAt, isOpen }) => sendAt > now && isOpen);
  if (summary) return { message: summary.message, sendAt: summary.sendAt };
  const recent = new Map(limited.map(({ message, sendAt }) => [message, sendAt.getTime()]));
  const within = [...recent.values()].filter((at) => at > now.getTime() - windowMs);
  const oldest = within.toSorted((one, other) => one - other).at(-mostMessages);
  return oldest === undefined ? alone : { ...alone, sendAt: new Date(oldest + windowMs) };
};

const isToday = ({ sendAt }: PlannedMail, now: Date): boolean => sendAt > plannedSince(now);

/** If the opposite was sent since, the new one waits for the end of the day, so that the last mail is true. */
const afterSame = (
  mail: Mail,
  { same, before }: { readonly same: PlannedMail; readonly before: readonly PlannedMail[] },
  now: Date,
): MailPlan => {
  const opposite = oppositeOf(mail.kind);
  const about = before.filter(({ subject }) => subject === same.subject);
  const last = latest(about, (kind) => kind === mail.kind || kind === opposite);
  if (!last || last.kind !== opposite) return undefined;
  const isAlone = before.filter(({ message }) => message === last.message).length === 1;
  if (isAlone && last.isOpen && last.sendAt > now) return { cancels: last.message };
  return { message: mail.id, sendAt: new Date(same.sendAt.getTime() + dayMs) };
};

const latest = (mails: readonly PlannedMail[], isMeant: (kind: string) => boolean) =>
  mails
    .filter(({ kind }) => isMeant(kind))
    .toSorted((one, other) => one.sendAt.getTime() - other.sendAt.getTime())
    .at(-1);

const oppositeOf = (kind: NotificationKind): NotificationKind | undefined => {
  const pair = opposites.find((both) => both.includes(kind));
  return pair?.find((one) => one !== kind);
};

export type MailedFacts = NotificationContent & Pick<Mail, 'occurredAt'>;

const longestMs = 120 * minuteMs;

/** A minute after the first failure, then 2, 4, 8 …, at most two hours. */
const waitMs = (attempts: number): number => Math.min(minuteMs * 2 ** attempts, longestMs);

/** The last attempt starts a minute earlier, because it takes time. */
const lastMs = minuteMs;

/** When a mail is no longer sent, because it is old or its link has expired. @param sendAt when it is first sent */
export const endOf = (mail: Mail, sendAt: Date): Date => {
  const isForLink = mail.kind === 'person.invited' || mail.kind === 'sign_in.link';
  const linkEnds = isForLink ? new Date(mail.about.until).getTime() : Infinity;
  return new Date(Math.min(linkEnds, triedUntil(sendAt)));
};

const triedUntil = (sendAt: Date): number => sendAt.getTime() + dayMs + lastMs;

/** @param attempts earlier failures @param until see `endOf` @returns undefined after the last attempt */
export const nextAttempt = (
  { attempts, until }: { readonly attempts: number; readonly until: Date },
  now: Date,
): Date | undefined => {
  const last = until.getTime() - lastMs;
  if (now.getTime() >= last) return undefined;
  return new Date(Math.min(now.getTime() + waitMs(attempts), last));
};

export interface DueMail {
  readonly message: string;
  readonly accountId: string;
  readonly isPersonal: boolean;
}

/**
 * Chooses the next messages: personal ones first, because somebody waits for them; then from the account whose last
 * turn is longest ago; then by due time. One account cannot delay another's mail.
 * @param due in order of their due times
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
