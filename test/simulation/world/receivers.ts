import { Webhook } from 'standardwebhooks';
import { longestMs, NotSent, notSentBy } from '../../../src/adapters/webhooks/guarded-outside.ts';
import type { Outcome } from '../../../src/notifications/domain/webhook-delivery.ts';
import type { Payload } from '../../../src/notifications/domain/payload.ts';
import { Outside } from '../../../src/notifications/webhook-ports.ts';
import { pass } from './durations.ts';
import { postedBy } from '../../../src/adapters/mail/smtp-postman.ts';
import { Postman, type OutgoingMail, type Posted } from '../../../src/notifications/ports.ts';

type Message = Parameters<Outside['post']>[1];

export type ReceiverWeather =
  /** Takes the message and answers after this many milliseconds. */
  | { readonly kind: 'well'; readonly slowMs?: number }
  /** Reads nothing and answers nothing. */
  | { readonly kind: 'hangs' }
  /** Nothing listens at the address. */
  | { readonly kind: 'refuses' }
  /** Answers with this status and does not take the message. */
  | { readonly kind: 'answers'; readonly status: 500 | 503 | 410 | 301; readonly slowMs?: number }
  /** Takes the message, but its answer is lost. */
  | { readonly kind: 'losesAnswer' };

export interface Received {
  readonly address: string;
  readonly id: string;
  readonly type: string;
  readonly accountId: string;
  readonly at: Date;
}

export interface UnverifiedMessage {
  readonly address: string;
  readonly id: string | undefined;
  readonly why: string;
  readonly at: Date;
}

const well: ReceiverWeather = { kind: 'well' };

/** The receivers of webhooks by address. They verify messages as Standard Webhooks requires. */
export class Receivers extends Outside {
  /** In order of arrival. A message that came twice is listed twice. */
  readonly received: Received[] = [];
  readonly faults: UnverifiedMessage[] = [];
  /** Addresses without an entry have good weather. */
  readonly weather = new Map<string, ReceiverWeather>();
  readonly #secrets = new Map<string, readonly string[]>();

  /**
   * Sets up a receiver, or replaces its secrets. During a rotation it has both.
   * @param secrets the receiver takes messages signed with any of them
   */
  tell(address: string, secrets: readonly string[]): void {
    this.#secrets.set(address, secrets);
  }

  override async post(
    address: string,
    message: Message,
    cancelled?: AbortSignal,
  ): Promise<Outcome> {
    const begun = performance.now();
    const outcome = await this.#answer(address, message, cancelled).catch((error: unknown) => {
      const { why, message: explanation } = notSentBy(error, new URL(address).hostname);
      return { kind: 'failed', why, explanation } as const;
    });
    return { ...outcome, tookMs: Math.round(performance.now() - begun) };
  }

  async #answer(address: string, message: Message, cancelled: AbortSignal | undefined) {
    const weather = this.weather.get(address) ?? well;
    const secrets = this.#secrets.get(address);
    if (cancelled?.aborted) throw new NotSent('cancelled', '');
    if (!secrets || weather.kind === 'refuses') throw refused();
    if (weather.kind === 'hangs') return this.#never(cancelled);
    const why = unverified(message, secrets);
    if (why !== undefined) {
      const id = message.headers['webhook-id'];
      this.faults.push({ address, id, why, at: new Date() });
      return answered(401);
    }
    if (weather.kind !== 'answers') this.#take(address, message);
    if (weather.kind === 'losesAnswer') return this.#never(cancelled);
    const { slowMs = 0 } = weather;
    if (slowMs >= longestMs) return this.#never(cancelled);
    if (slowMs > 0 && !(await pass(slowMs, cancelled))) throw new NotSent('cancelled', '');
    return answered(weather.kind === 'answers' ? weather.status : 200);
  }

  #take(address: string, { headers, body }: Message): void {
    const { type, data } = JSON.parse(body) as Payload;
    const id = headers['webhook-id'] ?? '';
    const { accountId } = data;
    this.received.push({ address, id, type, accountId, at: new Date() });
  }

  async #never(cancelled: AbortSignal | undefined): Promise<never> {
    const isLate = await pass(longestMs, cancelled);
    throw isLate ? new NotSent('timedOut', String(longestMs / 1000)) : new NotSent('cancelled', '');
  }
}

const answered = (status: number) => ({ kind: 'answered', status, beginning: '' }) as const;

const refused = () => Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });

/** @returns why a message is not verified; undefined if it is */
const unverified = ({ headers, body }: Message, secrets: readonly string[]): string | undefined => {
  let why = 'The receiver knows no secret.';
  for (const secret of secrets) {
    try {
      new Webhook(secret).verify(body, headers);
      return undefined;
    } catch (error) {
      why = String(error);
    }
  }
  return why;
};

/** `SmtpPostman` has the same deadline for a whole message. */
const deadlineMs = 60_000;

export interface TakenMail extends OutgoingMail {
  readonly at: Date;
}

export interface MailWeather {
  /** `away`: nothing listens; `hangs`: no answer comes; `losesAnswers`: it takes a message, but its answer is lost. */
  server: 'well' | 'away' | 'hangs' | 'losesAnswers';
}

export class MailServer extends Postman {
  /** In order of arrival. A message that came twice is listed twice. */
  readonly taken: TakenMail[] = [];
  readonly weather: MailWeather = { server: 'well' };

  override async post(mail: OutgoingMail, signal: AbortSignal): Promise<Posted> {
    const { server } = this.weather;
    if (mail.told.length === 0) return postedBy(new Error('a message needs at least one notice'));
    if (signal.aborted) return stopped;
    if (server === 'away') return postedBy(new Error('connect ECONNREFUSED'));
    if (server === 'hangs') return never(signal);
    this.taken.push({ ...mail, at: new Date() });
    return server === 'losesAnswers' ? never(signal) : { kind: 'taken' };
  }
}

const stopped: Posted = { kind: 'failed', reason: 'This process was stopped meanwhile.' };

const never = async (signal: AbortSignal): Promise<Posted> => {
  const isLate = await pass(deadlineMs, signal);
  return isLate ? postedBy(new Error('The operation was aborted due to timeout')) : stopped;
};
