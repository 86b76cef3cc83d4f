import { mailedLinkMs } from './session.ts';

/**
 * Why a person gets a mail: they asked for a link on the sign-in page, to sign in or to choose a new password; somebody
 * invited them, or made a link for them; or their password or second factor was changed.
 */
export const mailReasons = [
  'sign_in',
  'new_password',
  'invitation',
  'password_changed',
  'factor_changed',
] as const;
export type MailReason = (typeof mailReasons)[number];

/** Tells what was done, and has no link that signs in. */
export const isNews = (reason: MailReason): reason is 'password_changed' | 'factor_changed' =>
  reason === 'password_changed' || reason === 'factor_changed';

interface AskingDevice {
  readonly id: string;
  /** Those whose addresses were proven then. */
  readonly personIds: readonly string[];
}

export interface AskedBy {
  /** `network:…` of a visitor, or `account:…` of the account that something happened in. */
  readonly source: string;
  /** Of a visitor, if somebody has signed in there. */
  readonly device: AskingDevice | undefined;
}

export const askedByAccount = (accountId: string): AskedBy => ({
  ...{ source: `account:${accountId}`, device: undefined },
});

/** A mail that somebody asked for. It holds no secret: a link is made when the request is answered. */
export interface MailRequest extends AskedBy {
  readonly id: string;
  readonly reason: MailReason;
  /** As `emailOf` gives it; may belong to nobody. */
  readonly email: string;
  readonly personId: string | undefined;
  readonly askedAt: Date;
  /** How many the same network asked for today: where many wait, those with a low number come first. */
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

/** Mails to one address that one asker may cause, and all together, so that nobody can flood it. See `quietMs` too. */
export const mailLimits = {
  ofSource: { perHour: 3, perDay: 10 },
  inAll: { perHour: 10, perDay: 30 },
  /** Known browsers together. */
  ofDevices: { perHour: 10, perDay: 30 },
} as const satisfies Readonly<Record<string, MailLimits>>;

/** An address that was sent nothing for so long gets one more, whoever asked before: no older link works any more then. */
export const quietMs = mailedLinkMs;

const hourMs = 60 * 60_000;
const dayMs = 24 * hourMs;

/** Links and news are counted apart, so that nobody can hold back the news of a changed password by asking for links. */
export const countedTogether = (reason: MailReason): readonly MailReason[] =>
  together.find((group) => group.includes(reason)) ?? [reason];

const together: readonly (readonly MailReason[])[] = [['sign_in', 'new_password']];

export const mailsCountedSince = (now: Date): Date => new Date(now.getTime() - dayMs);

/**
 * Counts as attempts at passwords are counted: by source, so that nobody can hold back the mails of an address that others
 * ask for, and a browser in which one of its people has signed in by itself. That one is limited only by what such browsers ask
 * for.
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

/** A visitor who asked has the answer by then. */
export const restMs = 500;

/** What a visitor asked for rests first: work for a known address would slow down the answer, and so reveal it. */
export const isDue = ({ personId, askedAt }: MailRequest, now: Date): boolean =>
  personId !== undefined || Math.abs(now.getTime() - askedAt.getTime()) >= restMs;

export const mayBeAnsweredAt = (request: MailRequest, now: Date): Date =>
  isDue(request, now) ? now : new Date(request.askedAt.getTime() + restMs);
