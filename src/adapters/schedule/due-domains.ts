import PQueue from 'p-queue';
import type { Logger } from 'pino';
import { Bell } from '../../kernel/bell.ts';
import type { Clock } from '../../kernel/clock.ts';
import { Turns } from '../../kernel/turns.ts';
import { Unavailable } from '../../kernel/unavailable.ts';
import type { CustomDomain } from '../../domains/domain/attachment/custom-domain.ts';
import { dueWork } from '../../domains/domain/attachment/schedule.ts';
import type { CustomDomains, HeldDomain } from '../../domains/custom-domain-ports.ts';

/** A worker that has not renewed its claim for so long is dead. The work itself may take longer. */
const usualLeaseMs = 30_000;
const prolongedPerLease = 3;
/** Pause after an unexpected failure, so that it is not retried in a tight loop. */
const restMs = 5 * 60_000;
const batch = 200;

/** Separate limits, because checks wait for name servers and orders for the authority. */
const atOnce = { checks: 100, orders: 20 } as const;

/** A check starts with dozens of queries: many at once would block the process. */
const pace = { interval: 5, intervalCap: 2 } as const;

export interface DuePorts {
  readonly domains: Pick<CustomDomains, 'claimDue' | 'nextDueAt' | 'prolong' | 'release'>;
  /** Does what is due for one domain. */
  readonly tend: (domain: CustomDomain) => Promise<void>;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Finds due domains and works on them, each in one process at a time, many in parallel. One that hangs or fails delays
 * no other.
 */
export class DueDomains {
  /** Rings when a domain may be due. */
  readonly news = new Bell();
  readonly #ports: DuePorts;
  readonly #leaseMs: number;
  readonly #checks = new PQueue({ concurrency: atOnce.checks, ...pace });
  readonly #orders = new PQueue({ concurrency: atOnce.orders });
  readonly #held = new Map<string, HeldDomain>();
  #prolonging: NodeJS.Timeout | undefined;
  readonly #claims = new Turns(() => this.#claim());
  /** Whether more were due than there was room for. */
  #mayBeMore = false;

  constructor(ports: DuePorts, leaseMs = usualLeaseMs) {
    this.#ports = ports;
    this.#leaseMs = leaseMs;
  }

  /**
   * Claims due domains while there is room, and returns once they are claimed.
   * @returns when the next one in the store is due. @throws Unavailable
   */
  run(): Promise<Date | undefined> {
    return this.#claims.run();
  }

  /** Claims no more, finishes work under way, and releases what was not begun. */
  async stop(): Promise<void> {
    await this.#claims.stop();
    await Promise.all([this.#checks.onIdle(), this.#orders.onIdle()]);
  }

  async #claim(): Promise<Date | undefined> {
    const { domains, clock } = this.#ports;
    const room = this.#room();
    this.#mayBeMore = room <= 0;
    const now = clock.now();
    if (this.#mayBeMore) return now;
    const dueAt = await domains.nextDueAt();
    if (!dueAt || dueAt > now) return dueAt;
    const due = await domains.claimDue(clock.now(), this.#in(this.#leaseMs), room);
    for (const domain of due.domains) this.#take(domain, due);
    this.#mayBeMore = due.domains.length === room;
    return domains.nextDueAt();
  }

  /**
   * After a clock jump, a lease may have expired while this process still works on the domain: then only the claim is
   * new.
   */
  #take(domain: CustomDomain, { claim }: Pick<HeldDomain, 'claim'>): void {
    const isBegun = this.#held.has(domain.id);
    this.#hold({ id: domain.id, claim });
    if (!isBegun) this.#begin(domain);
  }

  #begin(domain: CustomDomain): void {
    const isOrder = dueWork(domain, this.#ports.clock.now()) === 'certificate';
    const queue = isOrder ? this.#orders : this.#checks;
    void queue
      .add(() => (this.#claims.isStopped ? this.#release(domain.id) : this.#work(domain)))
      .finally(() => {
        this.#letGo(domain.id);
        this.#lookForMore();
        this.news.ring('soon');
      });
  }

  async #work(domain: CustomDomain): Promise<void> {
    const { tend, log } = this.#ports;
    try {
      await tend(domain);
    } catch (error) {
      log.warn({ err: error, domainId: domain.id }, 'work on a domain failed, will be retried');
      // A brief database outage is not the domain's fault: the next poll claims it again.
      if (!(error instanceof Unavailable)) {
        await this.#prolong(this.#heldAs(domain.id), restMs);
        return;
      }
    }
    await this.#release(domain.id);
  }

  async #release(id: string): Promise<void> {
    const { domains, log } = this.#ports;
    for (const held of this.#heldAs(id)) {
      await domains.release(held).catch((error: unknown) => {
        log.warn({ err: error, domainId: id }, 'domain not released, its lease will end');
      });
    }
  }

  #hold(held: HeldDomain): void {
    this.#held.set(held.id, held);
    this.#prolonging ??= setInterval(() => {
      void this.#prolong([...this.#held.values()], this.#leaseMs);
    }, this.#leaseMs / prolongedPerLease).unref();
  }

  #letGo(id: string): void {
    this.#held.delete(id);
    if (this.#held.size > 0) return;
    clearInterval(this.#prolonging);
    this.#prolonging = undefined;
  }

  #heldAs(id: string): readonly HeldDomain[] {
    const held = this.#held.get(id);
    return held ? [held] : [];
  }

  async #prolong(held: readonly HeldDomain[], milliseconds: number): Promise<void> {
    const { domains, log } = this.#ports;
    await domains.prolong(held, this.#in(milliseconds)).catch((error: unknown) => {
      log.warn({ err: error }, 'leases of domains not renewed, other workers may take them over');
    });
  }

  #in(milliseconds: number): Date {
    return new Date(this.#ports.clock.now().getTime() + milliseconds);
  }

  #room(): number {
    return batch - this.#checks.size - this.#orders.size;
  }

  /** Not after each finished domain, but as soon as there is room for many. */
  #lookForMore(): void {
    if (!this.#mayBeMore || this.#room() < batch / 2) return;
    this.run().catch((error: unknown) => {
      this.#ports.log.warn({ err: error }, 'search for due domains failed, will be retried');
    });
  }
}
