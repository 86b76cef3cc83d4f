import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getTasks } from 'node-cron';
import { CertificateOrders } from '../../src/domains/certificate-ports.ts';
import { SimulatedProcess, processNames, type ProcessName } from './fleet.ts';
import { History, storedText } from './history.ts';
import { Laws } from './laws.ts';
import { Owners } from './owners.ts';
import { isShop } from './shops.ts';
import { lineOf, type Step, type Story } from './story.ts';
import { turnWeather, clearWeather, type FleetWeather } from './weather.ts';
import { chanceOf, type Chance, poolKey } from './world/chance.ts';
import { handed } from './world/crossing.ts';
import { Disk, useDisk } from './world/disk.ts';
import { simulate } from './world/globals.ts';
import { Time, type Actor } from './world/time.ts';
import { service, World } from './world/world.ts';
import { dayMs, hourMs } from './world/durations.ts';

export const beginning = Date.UTC(2027, 0, 1);

export interface Options {
  /** No process dies and turns take no time, for histories that are compared. */
  readonly isOrderly?: boolean;
  /** If false, the story ends in its weather, and laws about the time after it are not checked. */
  readonly settles?: boolean;
  readonly onLine?: (line: string) => void;
}

/** When a process dies or stalls: at its next commits, or at its next requests to an authority. */
interface Doom {
  left: number;
  readonly when: string;
  readonly comes: (process: SimulatedProcess) => void;
}

const settings = (folder: string): Readonly<Record<string, string>> => ({
  DATA_DIR: folder,
  SECRET_KEY: 'the key of a simulated store, of no use elsewhere',
  PUBLIC_URL: `https://api.${service.zone}/v1`,
  PLATFORM_HOST: service.platformHost,
  PLATFORM_ADDRESSES: service.address,
  ACME_DNS_ZONE: service.acmeDnsZone,
  DNS_SERVERS: service.resolvers.join(','),
  ALLOW_TEST_DOMAINS: '1',
  ACME_DIRECTORY_URL: 'https://acme.one.example/directory',
  ACME_EMAIL: `operator@${service.zone}`,
  ACME_PROFILE: 'classic',
  CAA_ISSUER: 'one.example',
  ACME_FALLBACK_DIRECTORY_URL: 'https://acme.two.example/directory',
  CAA_FALLBACK_ISSUER: 'two.example',
  SMTP_URL: `smtp://mail.${service.zone}`,
  MAIL_FROM: `store@${service.zone}`,
});

export class Simulation {
  readonly time: Time;
  readonly world: World;
  readonly owners: Owners;
  readonly laws: Laws;
  readonly fleet = new Map<ProcessName, SimulatedProcess>();
  readonly weather: FleetWeather = { losesSignals: false };
  readonly #chance: Chance;
  readonly #folder: string;
  readonly #disk: Disk;
  readonly #dooms = new Map<Actor, Doom>();
  readonly #clocks = new Map<ProcessName, number>();
  readonly #options: Options;
  readonly #history: History;

  constructor(seed: string, options: Options = {}) {
    this.#options = options;
    this.#chance = chanceOf(seed);
    this.#folder = mkdtempSync(join(tmpdir(), 'animal-store-life-'));
    this.time = new Time(beginning, seed, options.isOrderly);
    const chance = this.#chance;
    const isOrderly = options.isOrderly === true;
    simulate({ time: this.time, chance, privateKey: poolKey, ...(isOrderly && { random: 0.5 }) });
    this.#disk = new Disk(this.time, {
      atCommit: (actor, when) => {
        this.#meet(actor, when);
      },
      onCommit: (actor, tables) => {
        this.laws.onCommit(tables);
        this.#spread(actor, tables);
      },
    });
    useDisk(this.#disk);
    this.world = new World({
      time: this.time,
      chance,
      answerChallenge: (host, token) =>
        this.#ask('edge', ({ container }) => container.get(CertificateOrders).answer(host, token)),
      answerDns: (query) => this.#ask('dns', (dns) => dns.answerDns(query)),
      onAsk: (url) => {
        const [, place = ''] = /\/acme\/([\w-]+)/.exec(url) ?? [];
        if (this.time.actor) this.#meet(this.time.actor, `asking ${place}`);
      },
      onOrder: (authority, names) => {
        this.laws.onOrder({ authority, names });
      },
    });
    this.owners = new Owners({
      time: this.time,
      world: this.world,
      api: () => this.fleet.get('api'),
      note: (who, text) => {
        this.#line(`     ${who}: ${text}`);
      },
      onHold: (budget) => {
        this.laws.onHold(budget);
      },
      onAnswer: (shop, words, outcome) => {
        this.#history.answered(shop, this.time.now, { words, outcome });
        this.laws.onAnswer(outcome);
      },
    });
    this.#history = new History({
      world: this.world,
      owners: this.owners,
      databaseFile: this.databaseFile,
      api: () => this.fleet.get('api'),
    });
    this.laws = new Laws({
      time: this.time,
      world: this.world,
      owners: this.owners,
      fleet: this.fleet,
      databaseFile: this.databaseFile,
    });
  }

  get databaseFile(): string {
    return join(this.#folder, 'animal-store.db');
  }

  async open(): Promise<void> {
    for (const name of processNames) await this.time.until(this.#start(name));
    await this.time.until(this.owners.open());
  }

  /** Runs a story and then 9.5 days of good weather. @throws LawBroken */
  async live({ steps, days }: Story): Promise<void> {
    const begun = this.time.now;
    if (this.#options.isOrderly === true) this.#watch(0);
    for (const step of steps) {
      this.time.as(undefined, () =>
        this.time.after(begun + step.at - this.time.now, () => {
          this.#line(lineOf(step));
          this.#do(step);
        }),
      );
    }
    await this.#until(begun + days * dayMs);
    if (this.#options.settles === false) return;
    clearWeather(this.world, this.weather);
    this.#dooms.clear();
    await this.#startMissing();
    this.laws.weatherCleared();
    await this.#until(this.time.now + this.laws.settlingMs);
    this.laws.atTheEnd();
  }

  /** The hash of every step and of the stored data. Nothing may happen after it. */
  hash(): string {
    const stored = storedText(this.databaseFile);
    return createHash('sha256').update(this.time.traceHash()).update(stored).digest('hex');
  }

  history(): string {
    return this.#history.text(beginning);
  }

  close(): void {
    for (const { actor } of this.fleet.values()) this.#drop(actor);
    // The next simulation may reuse ids of these tasks.
    for (const task of getTasks().values()) void task.destroy();
    this.laws.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Checks at each half hour, when no hour ends. */
  #watch(hours: number): void {
    const at = beginning + (hours + 0.5) * hourMs;
    this.time.as(undefined, () =>
      this.time.after(at - this.time.now, () => {
        this.#watch(hours + 1);
        void this.#ask('api', () => this.#history.look(at));
      }),
    );
  }

  async #until(at: number): Promise<void> {
    await this.time.run(() => {
      this.laws.check();
      return this.time.now >= at;
    });
  }

  #do({ who, words }: Step): void {
    const [verb = '', object = ''] = words;
    if (isShop(who)) void this.owners.act(who, words);
    else if (who === 'weather') {
      turnWeather(this.world, this.weather, words);
      this.laws.onWeather(words);
    } else if (verb === 'dies' || verb === 'stalls') this.#doom(who as ProcessName, words);
    else if (verb === 'shows') this.#setClock(who as ProcessName, Number(object));
    else throw new Error(`nobody is called ${who}`);
  }

  /**
   * `dies now 60`, `dies before 3 60` and `dies after 3 60`: the process dies at once, or at its third commit from now,
   * for a minute. `dies asking new-order 60`: it dies once it has sent that request to an authority. `stalls` takes the
   * same words, but loses nothing.
   */
  #doom(name: ProcessName, [verb = '', when = '', ...given]: readonly string[]): void {
    const process = this.fleet.get(name);
    if (!process) return;
    const seconds = Number(given.at(-1));
    const comes = ({ actor }: SimulatedProcess): void => {
      if (verb === 'dies') this.#die(actor, seconds * 1000);
      else this.#stall(actor, seconds * 1000);
    };
    if (when === 'now') comes(process);
    else if (when === 'asking')
      this.#dooms.set(process.actor, { left: 1, when: `asking ${given[0] ?? ''}`, comes });
    else this.#dooms.set(process.actor, { left: Number(given[0]), when, comes });
  }

  #meet(actor: Actor, when: string): void {
    const doom = this.#dooms.get(actor);
    const process = this.fleet.get(actor.name as ProcessName);
    if (doom?.when !== when || process?.actor !== actor) return;
    doom.left -= 1;
    if (doom.left > 0) return;
    this.#dooms.delete(actor);
    doom.comes(process);
  }

  /** The process continues where it was. Meanwhile others may have taken over its claims. */
  #stall(actor: Actor, forMs: number): void {
    const name = actor.name as ProcessName;
    this.#line(`     ${name} stalls`);
    actor.stalledUntil = this.time.now + forMs;
    this.laws.onStall(name);
    this.time.as(undefined, () => {
      this.time.after(forMs, () => {
        if (this.fleet.get(name)?.actor === actor) this.laws.onStart(name);
      });
    });
  }

  #die(actor: Actor, downMs: number): void {
    const name = actor.name as ProcessName;
    this.#line(`     ${name} died`);
    actor.isAlive = false;
    this.fleet.delete(name);
    this.laws.onDeath(name);
    this.time.as(undefined, () => {
      // Waits until the current statement has ended.
      this.time.after(0, () => {
        this.#disk.drop(actor);
      });
      this.time.after(Math.max(1, downMs), () => void this.#start(name));
    });
  }

  #drop(actor: Actor): void {
    actor.isAlive = false;
    this.#disk.drop(actor);
  }

  #setClock(name: ProcessName, aheadMs: number): void {
    this.#clocks.set(name, aheadMs);
    const process = this.fleet.get(name);
    if (process) process.actor.clockAheadMs = aheadMs;
  }

  async #start(name: ProcessName): Promise<void> {
    if (this.fleet.has(name)) return;
    const process = await SimulatedProcess.start(
      name,
      {
        time: this.time,
        settings: settings(this.#folder),
        bindWorld: (container, config) => {
          this.world.bind(container, config);
        },
        onLog: (who, line) => {
          if (this.time.actor?.isAlive === false) return;
          this.#line(`     ${who}: ${line.trim()}`);
          this.laws.onLog(who, line);
        },
      },
      this.#clocks.get(name),
    );
    this.fleet.set(name, process);
    this.laws.onStart(name);
  }

  async #startMissing(): Promise<void> {
    for (const name of processNames) {
      this.#setClock(name, 0);
      if (!this.fleet.has(name)) await this.time.until(this.#start(name));
    }
  }

  /** Notifies the other processes of stored changes, by a signal or at their next look. */
  #spread(from: Actor, tables: ReadonlySet<string>): void {
    const isAsked = from.name === 'api' && tables.has('domains');
    const hasNews = [...tables].some((table) => isNews(table.replace(/^claims of /, '')));
    if (!hasNews && !isAsked) return;
    const chance = this.#chance.of('signals', from.name);
    for (const process of this.fleet.values()) {
      if (process.actor === from) continue;
      const isLate = this.weather.losesSignals;
      const lateMs = this.#options.isOrderly === true ? 1 : chance.next() * (isLate ? 1000 : 60);
      this.time.as(process.actor, () =>
        this.time.after(lateMs, () => {
          process.hear();
        }),
      );
    }
  }

  /** @throws Error if the process is down */
  #ask<T>(name: ProcessName, work: (process: SimulatedProcess) => T | Promise<T>): Promise<T> {
    const process = this.fleet.get(name);
    if (!process) return Promise.reject(new Error(`${name} is down`));
    return handed(this.time, process.actor, () => work(process));
  }

  #line(line: string): void {
    this.#options.onLine?.(line);
  }
}

/** Whether other processes wait for changes of the table. Of domains, only what owners request counts: see `#spread`. */
const isNews = (table: string): boolean =>
  [
    'events',
    'deliveries',
    'routes',
    'certificates',
    'mails',
    'webhook_deliveries',
    'mail_requests',
  ].includes(table);
