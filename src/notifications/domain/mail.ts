import { isUrgent, subjectOf } from './kinds.ts';
import type { Notification, NotificationKind, Told } from './notification.ts';

export type Mail = Notification & {
  readonly personId: string;
  /** The address. */
  readonly to: string;
};

/** A mail that was added before. A message is one mail, or several in a summary. */
export interface PlannedMail {
  readonly kind: string;
  /** See `subjectOf`. */
  readonly subject: string | undefined;
  readonly message: string;
  /** When the message is to be sent for the first time. */
  readonly sendAt: Date;
  /** Whether nobody has begun to send the message. */
  readonly isOpen: boolean;
}

/**
 * In which message a mail is sent, and when; undefined: it is not sent. `cancels`: nor is another message, which waits and is
 * no longer true.
 */
export type MailPlan = Planned | { readonly cancels: string } | undefined;
export type Planned = Pick<PlannedMail, 'message' | 'sendAt'>;

/** Kinds of which one says that the other is over. */
const opposites: readonly (readonly [NotificationKind, NotificationKind])[] = [
  ['domain.unhealthy', 'domain.recovered'],
  ['certificate.failing', 'certificate.recovered'],
];

const minute = 60_000;
const windowMs = 10 * minute;
const dayMs = 24 * 60 * minute;
/** Within ten minutes, to one person. */
export const mostMessages = 5;

/** What `planMail` needs to know of, by `sendAt`. */
export const plannedSince = (now: Date): Date => new Date(now.getTime() - dayMs);

/**
 * A person gets one mail of a kind and a subject a day, and at most five messages within ten minutes: further mails wait
 * for the end of the ten minutes and are sent as one summary. Urgent ones are sent at once; those of personal kinds always,
 * and they count for nobody.
 * See `afterSame` for a second one within a day.
 * @param before the mails of the person that `plannedSince` names, without those that are not sent
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

/**
 * A mail of the kind and the subject was sent within the day. If the person was told the opposite since, the last thing that
 * they know would be wrong: then the mail waits until the day is over, unless the opposite still waits as well and neither is
 * sent.
 */
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

/** What a message tells of, in the order in which it happened. */
export type MailedFacts = Told & Pick<Mail, 'occurredAt'>;

const longestMs = 120 * minute;

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

export interface DueMail {
  readonly message: string;
  readonly accountId: string;
  readonly isPersonal: boolean;
}

/**
 * Chooses the messages that are sent next: those of personal kinds first, because somebody waits for them; then of the account
 * whose last turn is longest ago; then those that are due longest. So no account holds back the mail of another.
 * @param due in the order in which they are due
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
