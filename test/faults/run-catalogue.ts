import type { FaultDatabase } from './fault-words.ts';
import type { Fault, FaultOrders } from './fault.ts';
import { FaultServers } from './fault-servers.ts';
import { openGround, type Ground } from './ground.ts';
import { runFault, type FaultReport } from './run-fault.ts';

/** Opens one ground after the other; a fault reuses the previous one when its needs are equal. */
export class FaultRun {
  readonly reports: FaultReport[] = [];
  readonly #servers = new FaultServers();
  readonly #orders: FaultOrders;
  #ground: { readonly wish: string; readonly opened: Promise<Ground> } | undefined;

  constructor(orders: FaultOrders) {
    this.#orders = orders;
  }

  /** @returns the report, with an error of the fault as a complaint */
  async run(fault: Fault, kind: FaultDatabase): Promise<FaultReport> {
    const started = performance.now();
    const report = await this.#attempt(fault, kind).catch(async (error: unknown) => {
      // Its leftovers are unknown.
      await this.#leave().catch(() => undefined);
      return notRun(fault, kind, { error, tookMs: performance.now() - started });
    });
    this.reports.push(report);
    return report;
  }

  async close(): Promise<void> {
    try {
      await this.#leave();
    } finally {
      await this.#servers.close();
    }
  }

  async #attempt(fault: Fault, kind: FaultDatabase): Promise<FaultReport> {
    const wish = JSON.stringify([kind, fault.processes ?? 1, fault.needs]);
    if (this.#ground?.wish !== wish) {
      await this.#leave();
      this.#ground = { wish, opened: openGround(kind, fault, this.#servers) };
    }
    return runFault(fault, await this.#ground.opened, this.#orders);
  }

  async #leave(): Promise<void> {
    const ground = this.#ground;
    this.#ground = undefined;
    await (await ground?.opened)?.close();
  }
}

const notRun = (
  { name }: Fault,
  database: FaultDatabase,
  { error, tookMs }: { readonly error: unknown; readonly tookMs: number },
): FaultReport => ({
  ...{ fault: name, database, note: '', tookMs },
  ...{ acknowledged: 0, lost: 0, doubled: 0, unexpected: 0, recoveryMs: 0, longestAnswerMs: 0 },
  longestHealthMs: undefined,
  complaints: [error instanceof Error ? error.message : String(error)],
});
