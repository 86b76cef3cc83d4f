import {
  restoredIsServed,
  liveIsSecure,
  type Decided,
  liveIsServed,
  rightGoesLive,
  settlingMs,
} from './laws/live.ts';
import {
  accountsHaveTheirShare,
  caaIsObeyed,
  limitsAreKept,
  ordersAreCounted,
  ordersGoOn,
} from './laws/orders.ts';
import { deletedIsOut, deletedProjects, endsAreWhole } from './laws/endings.ts';
import { leasesHold, nextSteps, stepsAreTaken } from './laws/work.ts';
import { LawBroken, type AskedOrder, type Facts, type Law, type Seen, Stored } from './laws/law.ts';
import { statesAreTold, noFaultIsLogged, ownersAreAnswered, writesStay } from './laws/owners.ts';
import { oneHolder, provenRivals, removedIsGone } from './laws/names.ts';
import { Past } from './laws/past.ts';
import { quotasHold } from './laws/quotas.ts';
import { noRowIsForgotten } from './laws/rows.ts';
import {
  mailsArriveRight,
  messagesAreTaken,
  messagesArriveRight,
  ownersAreTold,
} from './laws/telling.ts';
import { Reached, type ReachedRow } from './reached.ts';
import type { ProcessName, SimulatedProcess } from './fleet.ts';
import type { Owners } from './owners.ts';
import type { Time } from './world/time.ts';
import type { World } from './world/world.ts';
import { hourMs } from './world/durations.ts';

export { LawBroken };

export interface LawPorts {
  readonly time: Time;
  readonly world: World;
  readonly owners: Owners;
  readonly fleet: ReadonlyMap<ProcessName, SimulatedProcess>;
  readonly databaseFile: string;
}

/** All laws, before anything has broken them. @param decided see `liveIsSecure` */
export const allLaws = (decided?: Decided): readonly Law[] => [
  oneHolder,
  provenRivals(),
  caaIsObeyed,
  limitsAreKept,
  accountsHaveTheirShare(),
  ordersAreCounted(),
  ordersGoOn(),
  leasesHold(),
  liveIsSecure(decided),
  removedIsGone(),
  deletedIsOut(),
  endsAreWhole(),
  restoredIsServed,
  nextSteps,
  stepsAreTaken,
  quotasHold(),
  noRowIsForgotten,
  ownersAreTold(),
  messagesArriveRight(),
  mailsArriveRight(),
  messagesAreTaken,
  writesStay(),
  statesAreTold,
  ownersAreAnswered,
  rightGoesLive,
  liveIsServed,
  noFaultIsLogged,
];

export class Laws {
  readonly settlingMs = settlingMs;
  readonly #decided: Decided = { looks: 0, decidable: 0 };
  readonly #laws = allLaws(this.#decided);
  readonly #reached = new Reached();
  readonly #seen: Seen;
  readonly #past: Past;
  readonly #stored: Stored;
  #broken: LawBroken | undefined;
  #nextHour = 0;

  constructor({ databaseFile, ...world }: LawPorts) {
    const { time } = world;
    this.#past = new Past(() => time.now, world.world.dns.zones);
    this.#stored = Stored.inFile(databaseFile, time);
    this.#seen = { ...world, past: this.#past, stored: this.#stored };
  }

  /** @throws LawBroken */
  check(): void {
    const { now } = this.#seen.time;
    this.#ask(({ afterStep }) => afterStep?.(this.#seen));
    if (now >= this.#nextHour) {
      this.#nextHour = now + hourMs;
      this.#ask(({ eachHour }) => eachHour?.(this.#seen));
    }
    if (this.#broken) throw this.#broken;
  }

  reached(): readonly ReachedRow[] {
    const { looks, decidable } = this.#decided;
    return [
      ...this.#reached.rows(),
      { what: 'looks at certificates of live names', count: looks },
      { what: 'looks at certificates whose renewal was overdue in good weather', count: decidable },
    ];
  }

  onCommit(tables: ReadonlySet<string>): void {
    this.#reached.onCommit(tables, this.#stored);
    if (tables.has('projects') || tables.has('accounts'))
      this.#past.followProjects(deletedProjects(this.#stored));
    this.#ask(({ tables: its, afterCommit }) =>
      its?.some((table) => tables.has(table)) === true ? afterCommit?.(this.#seen) : undefined,
    );
  }

  onOrder(order: AskedOrder): void {
    this.#ask(({ onOrder }) => onOrder?.(order, this.#seen));
  }

  onWeather(words: readonly string[]): void {
    this.#past.turn(words);
    this.#reached.onWeather(words);
  }

  onDeath(name: ProcessName): void {
    this.#past.died(name);
    this.#reached.onDeath(name);
  }

  onStall(name: ProcessName): void {
    this.#past.died(name);
    this.#reached.count(`stall of ${name}`);
  }

  onStart(name: ProcessName): void {
    this.#past.started(name);
  }

  onAnswer(outcome: string): void {
    if (outcome !== 'done') this.#reached.count(`refusal ${outcome}`);
  }

  /** Counts a budget that a page shows, because no timeline shows it. */
  onHold(budget: string): void {
    this.#reached.count(`budget ${budget}`);
  }

  onLog(name: ProcessName, line: string): void {
    this.#ask(({ onLog }) => onLog?.(name, line));
  }

  weatherCleared(): void {
    this.#past.clear();
  }

  /** @throws LawBroken */
  atTheEnd(): void {
    this.#ask(({ atTheEnd }) => atTheEnd?.(this.#seen));
    if (this.#broken) throw this.#broken;
  }

  close(): void {
    this.#stored.close();
  }

  #ask(question: (law: Law) => Facts | undefined): void {
    for (const law of this.#laws) {
      if (this.#broken) return;
      const facts = question(law);
      if (facts) this.#broken = new LawBroken(law.name, facts, this.#seen.time.now);
    }
  }
}
