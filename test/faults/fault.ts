import type { Answer, FaultDatabase, GroundWish } from './fault-words.ts';
import type { FaultLoad } from './fault-load.ts';
import type { Ground } from './ground.ts';

/** How much of each fault there is: `make faults` asks for all of it, `make test` for a short form. */
export interface FaultOrders {
  readonly kills: number;
  readonly soakMinutes: number;
  /** Numbers in [0, 1) that decide when it strikes. */
  readonly random: () => number;
  readonly tell: (progress: string) => void;
}

/** Where a fault happens. */
export interface Scene {
  readonly ground: Ground;
  readonly load: FaultLoad;
  readonly orders: FaultOrders;
}

/** What a fault itself found out. */
export interface Struck {
  /** What the table says beside the name. */
  readonly note?: string;
  /** Laws of its own that it saw broken. */
  readonly complaints?: readonly string[];
  /** What was measured as its recovery; else the time from its end until all succeed again. */
  readonly recoveryMs?: number;
  /** When it was over, as `performance.now()`; else when `strike` returned. */
  readonly endedAt?: number;
}

export interface Fault extends GroundWish {
  /** A sentence without its full stop. */
  readonly name: string;
  readonly databases: readonly FaultDatabase[];
  /** How many clients write under idempotency keys; 4 unless said otherwise. */
  readonly keyedWriters?: number;
  /** Pause of each writer after a success. */
  readonly paceMs?: number;
  /** What may be answered besides success, until it is over and the time to recover has passed. */
  readonly mayAnswer: readonly Answer[];
  readonly recoversWithinMs: number;
  /** Processes end during it: their `/healthz` is not watched, and a quota may lose its last second. */
  readonly endsProcesses?: boolean;
  /** Whether what was counted has to be exact; it is not where Redis or the clock is what fails. */
  readonly countsInexactly?: boolean;
  /** Makes the fault under load, and ends it. */
  readonly strike: (scene: Scene) => Promise<Struck>;
}
