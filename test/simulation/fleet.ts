import type { Container } from 'inversify';
import { pino, type Logger } from 'pino';
import { StoredSignal } from '../../src/kernel/signals.ts';
import {
  CounterKeeper,
  HighUseReporter,
  UsageRecorder,
} from '../../src/adapters/metering/usage-recorder.ts';
import { AnswerRate } from '../../src/adapters/nameserver/limits.ts';
import { Responder } from '../../src/adapters/nameserver/responder.ts';
import { ValueLookup } from '../../src/adapters/nameserver/value-lookup.ts';
import { zoneOf } from '../../src/adapters/nameserver/zone.ts';
import { openContainer } from '../../src/app/container.ts';
import { apiJobs } from '../../src/app/jobs.ts';
import { RouteTableKey } from '../../src/app/keys.ts';
import { recallCounters } from '../../src/app/wiring/access.ts';
import { loadConfig } from '../../src/app/settings/config.ts';
import type { Config } from '../../src/app/settings/settings.ts';
import { SiteAddresses } from '../../src/app/settings/addresses.ts';
import { startJobs, startWorker } from '../../src/app/worker.ts';
import { DnsChallenges } from '../../src/domains/certificate-ports.ts';
import { EdgeRecords } from '../../src/domains/ports.ts';
import { RouteTable } from '../../src/adapters/edge/route-table.ts';
import { Clock, Deadline } from '../../src/kernel/ports.ts';
import type { Actor, Time } from './world/time.ts';

const fleet = {
  api: 'api,dashboard',
  'worker-1': 'worker',
  'worker-2': 'worker',
  edge: 'edge',
  dns: 'dns',
} as const;

export type ProcessName = keyof typeof fleet;

export const processNames = Object.keys(fleet) as readonly ProcessName[];

export const workerNames = ['worker-1', 'worker-2'] as const;

export interface FleetPorts {
  readonly time: Time;
  readonly settings: Readonly<Record<string, string>>;
  /** Binds the ports to the simulated world, before any other object is made. */
  readonly bindWorld: (container: Container, config: Config) => void;
  readonly onLog: (process: ProcessName, line: string) => void;
}

export class SimulatedProcess {
  readonly actor: Actor;
  readonly container: Container;
  #responder: Responder | undefined;

  private constructor(actor: Actor, container: Container) {
    this.actor = actor;
    this.container = container;
  }

  /** @throws Error if the process dies during its start */
  static async start(
    name: ProcessName,
    ports: FleetPorts,
    clockAheadMs = 0,
  ): Promise<SimulatedProcess> {
    const actor: Actor = { name, isAlive: true, clockAheadMs };
    const { time } = ports;
    const settings = { ...ports.settings, ROLES: fleet[name] };
    return time.as(actor, async () => {
      const config = loadConfig(settings);
      const log = logOf(name, ports);
      const container = await openContainer(config, log);
      ports.bindWorld(container, config);
      if (config.roles.includes('edge')) {
        const { platformHost: host } = config;
        container
          .rebind(RouteTableKey)
          .toDynamicValue(
            (c) => new RouteTable(c.get(EdgeRecords), { host }, log, sleep.longestSleepMs),
          )
          .inSingletonScope();
      }
      const started = new SimulatedProcess(actor, container);
      await started.#startRole(config, log);
      return started;
    });
  }

  hear(): void {
    this.container.get(StoredSignal).raise([]);
  }

  answerDns(query: Buffer): Buffer | undefined | Promise<Buffer> {
    return this.#responder?.overTcp(query);
  }

  async #startRole(config: Config, log: Logger): Promise<void> {
    const { container } = this;
    await recallCounters(container);
    await container.get(SiteAddresses).recall();
    if (config.roles.includes('worker')) startWorker(container, config, log, sleep);
    if (config.roles.includes('api')) {
      const [usage, highUses] = [container.get(UsageRecorder), container.get(HighUseReporter)];
      startJobs(container, apiJobs(usage, highUses, container.get(CounterKeeper)), sleep);
    }
    if (config.roles.includes('edge')) {
      const routes = container.get(RouteTableKey);
      await routes.start();
      container.get(StoredSignal).listen(() => {
        void routes.refresh().catch(() => undefined);
      });
    }
    if (config.roles.includes('dns') && config.acmeDnsZone !== undefined)
      this.#responder = responderOf(container, config.acmeDnsZone);
  }
}

/** Builds the responder like the name server's module, without sockets. */
const responderOf = (container: Container, zone: string): Responder => {
  const [challenges, clock] = [container.get(DnsChallenges), container.get(Clock)];
  const deadline = container.get(Deadline);
  const find = (labels: readonly string[]) =>
    deadline.during(() => challenges.valuesFor(labels, clock.now()));
  return new Responder({
    zone: zoneOf(zone),
    lookup: new ValueLookup({ find }),
    rate: new AnswerRate({ perSecond: 1000 }),
  });
};

/** Processes are notified of everything that others store, so they rarely need to look. */
const sleep = { longestSleepMs: 6 * 60 * 60_000 };

const logOf = (name: ProcessName, { onLog }: FleetPorts): Logger =>
  pino(
    { level: 'warn', base: null, timestamp: false },
    {
      write: (line) => {
        onLog(name, shownLine(line));
      },
    },
  );

const shownLine = (line: string): string => {
  const { msg, job, err } = JSON.parse(line) as { msg: string; job?: string; err?: Error };
  return [msg, job, err?.message].filter((part) => part !== undefined).join(': ');
};
