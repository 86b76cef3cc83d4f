import pTimeout from 'p-timeout';
import type { Logger } from 'pino';
import { Bell } from '../../kernel/bell.ts';
import type { Clock } from '../../kernel/clock.ts';
import { Turns } from '../../kernel/turns.ts';
import { slowMs } from '../../notifications/domain/webhooks/attempts.ts';
import type { Attempted } from '../../notifications/use-cases/deliver-to-webhooks.ts';
import type {
  ClaimedDelivery,
  DueDelivery,
  WebhookDeliveries,
} from '../../notifications/webhook-ports.ts';
import { CallsUnderWay, type CallUnderWay } from './calls-under-way.ts';
import { WorkUnderWay } from './work-under-way.ts';

/** A lease is longer than an attempt may take with all that belongs to it. */
const usualTimes = { leaseMs: 30_000, longestMs: 25_000 };

export interface WebhookPumpPorts {
  readonly deliveries: Pick<WebhookDeliveries, 'claim' | 'nextDueAt'>;
  /** Makes one attempt, and stores what came of it. */
  readonly attempt: (
    claimed: ClaimedDelivery,
    signal: AbortSignal,
  ) => Promise<Pick<Attempted, 'fault'> | undefined>;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Sends deliveries that are due, many at a time. Nothing waits here: what there is no room for stays in the database, so
 * a receiver that hangs or gets much delays no other.
 */
export class WebhookPump {
  /** Rings when there may be deliveries to send. */
  readonly news = new Bell();
  readonly #ports: WebhookPumpPorts;
  readonly #claims = new Turns(() => this.#claim());
  readonly #calls = new CallsUnderWay();
  readonly #underWay: WorkUnderWay;
  readonly #times: typeof usualTimes;
  /** Whether more were due than there was room for. */
  #mayBeMore = false;

  /** @param graceMs see `WorkUnderWay` */
  constructor(ports: WebhookPumpPorts, graceMs?: number, times = usualTimes) {
    this.#ports = ports;
    this.#underWay = new WorkUnderWay(graceMs);
    this.#times = times;
  }

  /**
   * Claims what is due while there is room, and returns once it is claimed.
   * @returns when the next delivery in the store is due. @throws Unavailable
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
    const { deliveries, clock } = this.#ports;
    this.#mayBeMore = false;
    const dueAt = await deliveries.nextDueAt();
    if (!dueAt || dueAt > clock.now()) return dueAt;
    for (const isSlow of [false, true]) await this.#claimAmong(isSlow);
    return deliveries.nextDueAt();
  }

  /** The slow ones have places of their own. */
  async #claimAmong(isSlow: boolean): Promise<void> {
    const { deliveries, clock } = this.#ports;
    if (this.#calls.room(isSlow) === 0) {
      this.#mayBeMore = true;
      return;
    }
    const now = clock.now();
    const chosen = new Map<string, DueDelivery>();
    const except = this.#calls.full(isSlow);
    this.#mayBeMore ||= Object.values(except).some(({ length }) => length > 0);
    const { claimed, mayBeMore } = await deliveries.claim({
      ...{ now, leaseUntil: new Date(now.getTime() + this.#times.leaseMs), isSlow, except },
      choose: (due) => {
        for (const one of this.#calls.choose(due, isSlow)) chosen.set(one.id, one);
        this.#mayBeMore ||= chosen.size < due.length;
        return [...chosen.values()];
      },
    });
    this.#mayBeMore ||= mayBeMore;
    for (const one of claimed) {
      const due = chosen.get(one.delivery.id);
      if (due) this.#begin(one, { ...due, isSlow });
    }
  }

  #begin(claimed: ClaimedDelivery, call: CallUnderWay): void {
    this.#calls.begin(call);
    const becomesSlow = setTimeout(() => {
      if (this.#calls.makeSlow(call) && this.#mayBeMore) this.#lookForMore();
    }, slowMs);
    this.#underWay.add(this.#attempt(claimed), () => {
      clearTimeout(becomesSlow);
      this.#calls.end(call);
      if (this.#mayBeMore) this.#lookForMore();
      this.news.ring('soon');
    });
  }

  /** One that fails here stays claimed, and is due again when its lease ends. */
  async #attempt(claimed: ClaimedDelivery): Promise<void> {
    const { attempt, log } = this.#ports;
    const { longestMs } = this.#times;
    const { id, webhookId } = claimed.delivery;
    try {
      const message = `a delivery took longer than ${longestMs} ms`;
      const work = attempt(claimed, this.#underWay.signal);
      const attempted = await pTimeout(work, { milliseconds: longestMs, message });
      const err = attempted?.fault;
      if (err) log.error({ err, webhookId, deliveryId: id }, 'delivery could not be signed');
    } catch (err) {
      log.warn({ err, webhookId, deliveryId: id }, 'delivery failed, will be tried again');
    }
  }

  #lookForMore(): void {
    if (this.#claims.isStopped) return;
    this.run().catch((err: unknown) => {
      this.#ports.log.warn({ err }, 'search for due deliveries failed, will be retried');
    });
  }
}
