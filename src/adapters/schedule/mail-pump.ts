import type { Logger } from 'pino';
import { Bell } from '../../kernel/bell.ts';
import type { Clock } from '../../kernel/clock.ts';
import { Turns } from '../../kernel/turns.ts';
import type { Delivered, DueMessage, Mails } from '../../notifications/mail-ports.ts';
import { WorkUnderWay } from './work-under-way.ts';

/** Connections to the mail server. */
const atOnce = 4;
/** Accounts whose last turn is remembered. */
const mostRemembered = 500;
/** Longer than a message may take. */
const leaseMs = 2 * 60_000;

export interface MailPumpPorts {
  readonly mails: Pick<Mails, 'claim' | 'nextDueAt'>;
  /** Sends one message, and stores what came of it. */
  readonly deliver: (message: DueMessage, signal: AbortSignal) => Promise<Delivered>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Sends what is due, a few messages at a time. A server that hangs holds up mail only. */
export class MailPump {
  /** Rings when there may be mail to send. */
  readonly news = new Bell();
  readonly #ports: MailPumpPorts;
  readonly #claims = new Turns(() => this.#claim());
  readonly #underWay: WorkUnderWay;
  #mayBeMore = false;
  /** Accounts that had a turn, the latest last. */
  #lately: readonly string[] = [];

  /** @param graceMs see `WorkUnderWay` */
  constructor(ports: MailPumpPorts, graceMs?: number) {
    this.#ports = ports;
    this.#underWay = new WorkUnderWay(graceMs);
  }

  /**
   * Claims what is due while there is room, and returns once it is claimed.
   * @returns when the next message in the store is due. @throws Unavailable
   */
  run(): Promise<Date | undefined> {
    return this.#claims.run();
  }

  /** Claims no more, and finishes what is under way. */
  async stop(): Promise<void> {
    await this.#claims.stop();
    await this.#underWay.finish();
  }

  async #claim(): Promise<Date | undefined> {
    const room = atOnce - this.#underWay.size;
    this.#mayBeMore = room === 0;
    const { mails, clock } = this.#ports;
    const now = clock.now();
    if (room === 0) return now;
    const dueAt = await mails.nextDueAt();
    if (!dueAt || dueAt > now) return dueAt;
    const most = { limit: room, lately: this.#lately };
    const due = await mails.claim(now, new Date(now.getTime() + leaseMs), most);
    this.#mayBeMore = due.length === room;
    this.#hadTurns(due.map(({ accountId }) => accountId));
    for (const message of due) this.#begin(message);
    return mails.nextDueAt();
  }

  #hadTurns(accountIds: readonly string[]): void {
    const before = this.#lately.filter((id) => !accountIds.includes(id));
    this.#lately = [...before, ...new Set(accountIds)].slice(-mostRemembered);
  }

  #begin(message: DueMessage): void {
    this.#underWay.add(this.#deliver(message), () => {
      if (this.#claims.isStopped) return;
      if (this.#mayBeMore) this.#lookForMore();
      this.news.ring('soon');
    });
  }

  /** One that fails here stays claimed, and comes back when its lease ends. */
  async #deliver(message: DueMessage): Promise<void> {
    const { deliver, log } = this.#ports;
    const facts = { mail: message.id, personId: message.personId, attempts: message.attempts + 1 };
    try {
      const posted = await deliver(message, this.#underWay.signal);
      if (posted.kind === 'taken') log.info(facts, 'mail sent');
      else if (posted.kind === 'left_out') log.info(facts, 'mail left out');
      else log.warn({ ...facts, ...posted }, 'mail not sent');
    } catch (err) {
      log.warn({ ...facts, err }, 'mail not delivered, will be tried again');
    }
  }

  #lookForMore(): void {
    this.run().catch((err: unknown) => {
      this.#ports.log.warn({ err }, 'search for due mail failed, will be retried');
    });
  }
}
