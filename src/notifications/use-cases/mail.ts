import { Unavailable } from '../../kernel/ports.ts';
import { isKind, subjectOf } from '../domain/kinds.ts';
import { type Mail, nextAttempt, planMail } from '../domain/mail.ts';
import type {
  KindFacts,
  Notification,
  NotificationKind,
  PersonalKind,
  NotificationContent,
} from '../domain/notification.ts';
import type { Delivered, DueMessage, NotificationsPorts, OutgoingMail } from '../ports.ts';

type MailingPorts = Pick<
  NotificationsPorts,
  'mails' | 'mailChoices' | 'recipients' | 'postman' | 'clock'
>;

type PersonalContent = {
  [Kind in PersonalKind]: { readonly kind: Kind; readonly about: KindFacts[Kind] };
}[PersonalKind];

export type PersonalMail = PersonalContent & {
  /** At most 120 characters. Adding the same id again changes nothing. */
  readonly id: string;
  readonly accountId: string;
  readonly personId: string;
  readonly to: string;
};

/** Sends one person a mail. @returns false if `SMTP_URL` is not set */
export const mailPerson =
  ({ mails, postman, clock }: MailingPorts) =>
  async (mail: PersonalMail): Promise<boolean> => {
    if (!postman) return false;
    await add({ mails, clock }, { ...mail, occurredAt: clock.now() });
    return true;
  };

export const mailAccount =
  (ports: MailingPorts) =>
  async ({
    id,
    ...told
  }: Omit<PersonalMail, 'kind' | 'about' | 'personId' | 'to'> & PersonalContent): Promise<void> => {
    for (const { personId, to } of await ports.recipients.of(told.accountId)) {
      await mailPerson(ports)({ ...told, id: `${id}:${personId}`, personId, to });
    }
  };

/** Mails each person who wants the kind, except the one who caused it. Repetitions add nothing. */
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

/** Reads the time after waiting for the lock, so that mails planned meanwhile are not later. */
const add = ({ mails, clock }: Pick<MailingPorts, 'mails' | 'clock'>, mail: Mail): Promise<void> =>
  mails.add(mail, clock.now(), (before) => planMail(mail, before, clock.now()));

type DeliveryPorts = Pick<
  NotificationsPorts,
  'mails' | 'mailChoices' | 'recipients' | 'postman' | 'sealer' | 'clock'
>;

/** After a crash in between, the message is sent again with the same id. @throws Unavailable */
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

/** Checks the person's choices again, because they may have changed while the message waited. */
const prepare = async (
  ports: DeliveryPorts,
  { id, to, accountId, personId, tells }: DueMessage,
): Promise<OutgoingMail | Extract<Delivered, { kind: 'left_out' }>> => {
  const all = tells();
  const off = (await ports.mailChoices.off([personId])).get(personId);
  const isPersonal = (one: NotificationContent) => subjectOf(one) === undefined;
  // Owners of a deleted account get no more notices.
  const isLive = await ports.recipients.isInService(accountId);
  const told = all.filter((one) => isPersonal(one) || (isLive && !off?.has(one.kind)));
  if (told.length === 0) return { kind: 'left_out' };
  const account = await ports.recipients.accountName(accountId);
  const kinds = told.filter((one) => !isPersonal(one)).map(({ kind }) => kind);
  const token = kinds.length > 0 ? unsubscribeToken(ports, personId, kinds) : undefined;
  return { id, to, account, told, unsubscribeToken: token };
};

/** An undecryptable mail counts as an attempt, or it would be retried forever. Another process may have the key. */
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

/** The token cannot be forged, and is valid as long as the secret key. */
export const unsubscribeToken = (
  { sealer }: Pick<UnsubscribePorts, 'sealer'>,
  personId: string,
  kinds: readonly NotificationKind[],
): string => sealer.seal([personId, ...new Set(kinds)].join(' '), purpose);

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

/** Switches these kinds off. Repetitions change nothing. @returns whether the token is valid */
export const unsubscribe =
  (ports: UnsubscribePorts) =>
  async (token: string): Promise<boolean> => {
    const wanted = whatToUnsubscribe(ports)(token);
    if (wanted) await ports.mailChoices.switchOff(wanted.personId, wanted.kinds);
    return wanted !== undefined;
  };
