import type { FaultLoad } from './fault-load.ts';
import type { Ground } from './ground.ts';
import type { FaultDatabase, GroundWish, Answer } from './fault-words.ts';

/** How long each fault takes: `make faults` runs the full form, `make test` a short one. */
export interface FaultOrders {
  readonly kills: number;
  readonly soakMinutes: number;
  /** Numbers in [0, 1) that decide when it strikes. */
  readonly random: () => number;
  readonly tell: (progress: string) => void;
}

export interface Scene {
  readonly ground: Ground;
  readonly load: FaultLoad;
  readonly orders: FaultOrders;
}

/** The findings of the fault itself. */
export interface Struck {
  /** Additional text for the table. */
  readonly note?: string;
  /** Violations of the fault's own laws. */
  readonly complaints?: readonly string[];
  /** The measured recovery time; by default the time from its end until all requests succeed again. */
  readonly recoveryMs?: number;
  /** When it ended, as `performance.now()`; by default when `strike` returned. */
  readonly endedAt?: number;
}

export interface Fault extends GroundWish {
  readonly name: string;
  readonly databases: readonly FaultDatabase[];
  readonly keyedWriters?: number;
  readonly paceMs?: number;
  /** Answers other than success that are allowed until it is over and the recovery time has passed. */
  readonly mayAnswer: readonly Answer[];
  readonly recoversWithinMs: number;
  /**
   * Processes end during it, so their `/healthz` is not checked, and the last second of a quota may be
   * lost.
   */
  readonly endsProcesses?: boolean;
  /** Whether counts must be exact, which they are not when Redis or the clock fails. */
  readonly countsInexactly?: boolean;
  /** Causes the fault under load, and ends it. */
  readonly strike: (scene: Scene) => Promise<Struck>;
}
