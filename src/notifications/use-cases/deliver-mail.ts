import { Unavailable } from '../../kernel/unavailable.ts';
import { subjectOf } from '../domain/kinds.ts';
import { nextAttempt } from '../domain/mail-attempts.ts';
import type { Delivered, DueMessage, OutgoingMail } from '../mail-ports.ts';
import type { NotificationsPorts } from '../ports.ts';
import { unsubscribeToken } from './unsubscribe.ts';

type Ports = Pick<
  NotificationsPorts,
  'mails' | 'mailChoices' | 'recipients' | 'postman' | 'sealer' | 'clock'
>;

/**
 * Hands a claimed message to the mail server, and stores what came of it. If the process dies in between, it is sent again
 * under the same id.
 * @throws Unavailable
 */
export const deliverMail =
  (ports: Ports) =>
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
  ports: Ports,
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
  ports: Ports,
  { id, to, accountId, personId, tells }: DueMessage,
): Promise<OutgoingMail | Extract<Delivered, { kind: 'left_out' }>> => {
  const all = tells();
  const off = (await ports.mailChoices.off([personId])).get(personId);
  const told = all.filter((one) => subjectOf(one) === undefined || !off?.has(one.kind));
  if (told.length === 0) return { kind: 'left_out' };
  const account = await ports.recipients.accountName(accountId);
  const kinds = told.filter((one) => subjectOf(one) !== undefined).map(({ kind }) => kind);
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
  { mails, clock }: Ports,
  message: DueMessage,
  reason: string,
): Promise<void> => {
  const now = clock.now();
  const next = nextAttempt(message, now);
  if (next) await mails.retry(message, next, reason);
  else await mails.giveUp(message, now, { kind: 'late', reason });
};
