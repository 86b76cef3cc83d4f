import { mailedLinkMs } from './session.ts';
import { hourMs, dayMs } from '../../kernel/durations.ts';

/**
 * Why a person gets a mail: they requested a link on the sign-in page, to sign in or to choose a new password; somebody
 * invited them or made a link for them; or their password or second factor changed.
 */
export const mailReasons = [
  'sign_in',
  'new_password',
  'invitation',
  'password_changed',
  'factor_changed',
] as const;
export type MailReason = (typeof mailReasons)[number];

/** Whether the mail reports a change and contains no sign-in link. */
export const isNews = (reason: MailReason): reason is 'password_changed' | 'factor_changed' =>
  reason === 'password_changed' || reason === 'factor_changed';

interface AskingDevice {
  readonly id: string;
  /** The people whose addresses were proven when the request was made. */
  readonly personIds: readonly string[];
}

export interface AskedBy {
  /** `network:…` of a visitor, or `account:…` of the account where the event happened. */
  readonly source: string;
  /** The visitor's browser, if somebody has signed in there before. */
  readonly device: AskingDevice | undefined;
}

export const askedByAccount = (accountId: string): AskedBy => ({
  source: `account:${accountId}`,
  device: undefined,
});

/** A request for a mail. It contains no secret, because the link is made when the request is answered. */
export interface MailRequest extends AskedBy {
  readonly id: string;
  readonly reason: MailReason;
  /** In the form of `emailOf`; may belong to nobody. */
  readonly email: string;
  readonly personId: string | undefined;
  readonly askedAt: Date;
  /** How many requests the same network made today. When many requests wait, low turns come first. */
  readonly turn: number;
}

export interface PastMail extends AskedBy {
  readonly at: Date;
}

export type WantedLink = Extract<MailReason, 'sign_in' | 'new_password'>;

interface MailLimits {
  readonly perHour: number;
  readonly perDay: number;
}

/** Limits mails to one address, per asker and in total, so that nobody can flood it. See `quietMs` for an exception. */
export const mailLimits = {
  ofSource: { perHour: 3, perDay: 10 },
  inAll: { perHour: 10, perDay: 30 },
  /** Limit for all known browsers together. */
  ofDevices: { perHour: 10, perDay: 30 },
} as const satisfies Readonly<Record<string, MailLimits>>;

/**
 * An address that got no mail for this long gets one more despite the total limit, because its older links have
 * expired.
 */
export const quietMs = mailedLinkMs;

/** Links and news have separate limits, so that requests for links cannot hold back the news of a changed password. */
export const countedTogether = (reason: MailReason): readonly MailReason[] =>
  together.find((group) => group.includes(reason)) ?? [reason];

const together: readonly (readonly MailReason[])[] = [['sign_in', 'new_password']];

export const mailsCountedSince = (now: Date): Date => new Date(now.getTime() - dayMs);

/**
 * Decides whether one more mail may go to the address. Each source has its own limit, so that nobody can block mails
 * that others request. A browser in which one of the address's people has signed in has its own limit too, and only
 * requests of such browsers count against it.
 * @param before earlier mails to the address that count, in any order
 * @param personIds the people who proved that address
 */
export const mayBeMailed = (
  asked: AskedBy,
  {
    before,
    personIds,
  }: { readonly before: readonly PastMail[]; readonly personIds: readonly string[] },
  now: Date,
): boolean => {
  const deviceOf = ({ device }: AskedBy) =>
    device?.personIds.some((id) => personIds.includes(id)) === true ? device.id : undefined;
  const device = deviceOf(asked);
  if (device !== undefined) {
    const ofDevices = before.filter((one) => deviceOf(one) !== undefined);
    const ofThis = ofDevices.filter((one) => deviceOf(one) === device);
    return (
      isWithin(mailLimits.ofDevices, ofDevices, now) && isWithin(mailLimits.ofSource, ofThis, now)
    );
  }
  const ofOthers = before.filter((one) => deviceOf(one) === undefined);
  const ofSource = ofOthers.filter(({ source }) => source === asked.source);
  const isRoom = isWithin(mailLimits.inAll, ofOthers, now) || isQuiet(ofOthers, now);
  return isRoom && isWithin(mailLimits.ofSource, ofSource, now);
};

const isQuiet = (mails: readonly PastMail[], now: Date): boolean =>
  mails.every(({ at }) => at.getTime() <= now.getTime() - quietMs);

const isWithin = (
  { perHour, perDay }: MailLimits,
  mails: readonly PastMail[],
  now: Date,
): boolean => {
  const since = (ms: number) => mails.filter(({ at }) => at.getTime() > now.getTime() - ms).length;
  return since(hourMs) < perHour && since(dayMs) < perDay;
};

/** By this time the visitor has received the answer. */
export const restMs = 500;

/**
 * A visitor's request waits first, because work for a known address would slow down the answer and so reveal the
 * address.
 */
export const isDue = ({ personId, askedAt }: MailRequest, now: Date): boolean =>
  personId !== undefined || Math.abs(now.getTime() - askedAt.getTime()) >= restMs;

export const mayBeAnsweredAt = (request: MailRequest, now: Date): Date =>
  isDue(request, now) ? now : new Date(request.askedAt.getTime() + restMs);
