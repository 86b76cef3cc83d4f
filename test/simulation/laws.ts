import SqliteDatabase from 'better-sqlite3';
import type { SimulatedProcess, ProcessName } from './fleet.ts';
import type { Owners } from './owners.ts';
import type { Actor, Time } from './world/time.ts';
import type { World } from './world/world.ts';

export class LawBroken extends Error {
  override readonly name = 'LawBroken';
}

export interface LawPorts {
  readonly time: Time;
  readonly world: World;
  readonly owners: Owners;
  readonly fleet: ReadonlyMap<ProcessName, SimulatedProcess>;
  readonly databaseFile: string;
}

/** What is asked after each step. */
export class Laws {
  readonly settlingMs = 1 * 86_400_000;
  readonly #ports: LawPorts;
  #database: SqliteDatabase.Database | undefined;
  #broken: LawBroken | undefined;

  constructor(ports: LawPorts) {
    this.#ports = ports;
  }

  check(): void {
    if (this.#broken) throw this.#broken;
  }
  onCommit(_actor: Actor, _tables: ReadonlySet<string>): void {}
  onWeather(_words: readonly string[]): void {}
  onDeath(_name: ProcessName): void {}
  onStart(_name: ProcessName): void {}
  onLog(_name: ProcessName, _line: string): void {}
  weatherCleared(): void {}
  atTheEnd(): void {}
  close(): void {
    this.#database?.close();
  }
}
