import { Unavailable } from '../../kernel/ports.ts';
import { isKind, subjectOf } from '../domain/kinds.ts';
import { type Mail, nextAttempt, planMail } from '../domain/mail.ts';
import type {
  KindFacts,
  Notification,
  NotificationKind,
  PersonalKind,
  Told,
} from '../domain/notification.ts';
import type { Delivered, DueMessage, NotificationsPorts, OutgoingMail } from '../ports.ts';

type MailingPorts = Pick<
  NotificationsPorts,
  'mails' | 'mailChoices' | 'recipients' | 'postman' | 'clock'
>;

type PersonalTold = {
  [Kind in PersonalKind]: { readonly kind: Kind; readonly about: KindFacts[Kind] };
}[PersonalKind];

/** A mail of a personal kind, with its facts, which are kept encrypted until it is sent. */
export type PersonalMail = PersonalTold & {
  /** At most 120 characters. Adding another mail with the same id changes nothing. */
  readonly id: string;
  readonly accountId: string;
  readonly personId: string;
  /** The address. */
  readonly to: string;
};

/** Sends one person a mail of a personal kind. @returns false where no mail is sent, because `SMTP_URL` is not set */
export const mailPerson =
  ({ mails, postman, clock }: MailingPorts) =>
  async (mail: PersonalMail): Promise<boolean> => {
    if (!postman) return false;
    await add({ mails, clock }, { ...mail, occurredAt: clock.now() });
    return true;
  };

/** As `mailPerson`, to each person of an account who is a recipient. @param told its id is that of the event */
export const mailAccount =
  (ports: MailingPorts) =>
  async ({
    id,
    ...told
  }: Omit<PersonalMail, 'kind' | 'about' | 'personId' | 'to'> & PersonalTold): Promise<void> => {
    for (const { personId, to } of await ports.recipients.of(told.accountId)) {
      await mailPerson(ports)({ ...told, id: `${id}:${personId}`, personId, to });
    }
  };

/** One mail to each person of the account who wants that kind, except the one who did it. Adding the same notification again changes nothing. */
export const mailOwners =
  ({ mails, mailChoices, recipients, postman, clock }: MailingPorts) =>
  async (notification: Notification): Promise<void> => {
    if (!postman) return;
    const people = await recipients.of(notification.accountId);
    const off = await mailChoices.off(people.map(({ personId }) => personId));
    for (const { personId, to } of people) {
      if (to === notification.by) continue;
      if (off.get(personId)?.has(notification.kind)) continue;
      const id = `${notification.id}:${personId}`;
      await add({ mails, clock }, { ...notification, id, personId, to });
    }
  };

/** Plans it by the time at which its turn has come: mails that were planned while it waited do not count as later ones. */
const add = ({ mails, clock }: Pick<MailingPorts, 'mails' | 'clock'>, mail: Mail): Promise<void> =>
  mails.add(mail, clock.now(), (before) => planMail(mail, before, clock.now()));

type DeliveryPorts = Pick<
  NotificationsPorts,
  'mails' | 'mailChoices' | 'recipients' | 'postman' | 'sealer' | 'clock'
>;

/**
 * Hands a claimed message to the mail server, and stores what came of it. If the process dies in between, it is sent again
 * under the same id.
 * @throws Unavailable
 */
export const deliverMail =
  (ports: DeliveryPorts) =>
  async (message: DueMessage, signal: AbortSignal): Promise<Delivered> => {
    const { mails, clock } = ports;
    const delivered = await deliver(ports, message, signal);
    const now = clock.now();
    switch (delivered.kind) {
      case 'taken':
        await mails.sent(message, now);
        break;
      case 'left_out':
        await mails.leaveOut(message, now);
        break;
      case 'refused':
      case 'late':
        await mails.giveUp(message, now, delivered);
        break;
      case 'failed':
        await tryLater(ports, message, delivered.reason);
    }
    return delivered;
  };

const deliver = async (
  ports: DeliveryPorts,
  message: DueMessage,
  signal: AbortSignal,
): Promise<Delivered> => {
  const { postman, clock } = ports;
  if (clock.now() >= message.until) return { kind: 'late', reason: 'It is too old.' };
  if (!postman) return { kind: 'failed', reason: 'This process has no mail server.' };
  const mail = await prepare(ports, message).catch(unlessUnavailable);
  return 'kind' in mail ? mail : postman.post(mail, signal);
};

/** Asks once more which kinds the person wants: they may have switched some off while the message waited. */
const prepare = async (
  ports: DeliveryPorts,
  { id, to, accountId, personId, tells }: DueMessage,
): Promise<OutgoingMail | Extract<Delivered, { kind: 'left_out' }>> => {
  const all = tells();
  const off = (await ports.mailChoices.off([personId])).get(personId);
  const isPersonal = (one: Told) => subjectOf(one) === undefined;
  // Of a deleted account, its owners are told nothing more.
  const isLive = await ports.recipients.isInService(accountId);
  const told = all.filter((one) => isPersonal(one) || (isLive && !off?.has(one.kind)));
  if (told.length === 0) return { kind: 'left_out' };
  const account = await ports.recipients.accountName(accountId);
  const kinds = told.filter((one) => !isPersonal(one)).map(({ kind }) => kind);
  const token = kinds.length > 0 ? unsubscribeToken(ports, personId, kinds) : undefined;
  return { id, to, account, told, unsubscribeToken: token };
};

/** What fails here counts as an attempt, or it would be tried for ever. Another process may have the key, or be newer. */
const unlessUnavailable = (error: unknown) => {
  if (error instanceof Unavailable) throw error;
  const reason = error instanceof Error ? error.message : String(error);
  return { kind: 'failed', reason } as const;
};

const tryLater = async (
  { mails, clock }: DeliveryPorts,
  message: DueMessage,
  reason: string,
): Promise<void> => {
  const now = clock.now();
  const next = nextAttempt(message, now);
  if (next) await mails.retry(message, next, reason);
  else await mails.giveUp(message, now, { kind: 'late', reason });
};

type UnsubscribePorts = Pick<NotificationsPorts, 'sealer' | 'mailChoices'>;

const purpose = 'unsubscribe from mail';

interface Subscription {
  readonly personId: string;
  readonly kinds: readonly NotificationKind[];
}

/** Nobody can change it or make another one; it works for as long as the secret key. */
export const unsubscribeToken = (
  { sealer }: Pick<UnsubscribePorts, 'sealer'>,
  personId: string,
  kinds: readonly NotificationKind[],
): string => sealer.seal([personId, ...new Set(kinds)].join(' '), purpose);

/** @returns undefined for a token that is not ours */
export const whatToUnsubscribe =
  ({ sealer }: Pick<UnsubscribePorts, 'sealer'>) =>
  (token: string): Subscription | undefined => {
    try {
      const [personId = '', ...kinds] = sealer.open(token, purpose).split(' ');
      return { personId, kinds: kinds.filter(isKind) };
    } catch {
      return undefined;
    }
  };

/** Once and for all mails of these kinds; again changes nothing. @returns whether the token is ours */
export const unsubscribe =
  (ports: UnsubscribePorts) =>
  async (token: string): Promise<boolean> => {
    const wanted = whatToUnsubscribe(ports)(token);
    if (wanted) await ports.mailChoices.switchOff(wanted.personId, wanted.kinds);
    return wanted !== undefined;
  };
