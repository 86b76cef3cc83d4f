import SqliteDatabase from 'better-sqlite3';
import { Simulation } from './simulation.ts';
import type { Step, Story } from './story.ts';
import { dayMs, hourMs } from './world/durations.ts';

const events = {
  nothing: [],
  'both away for 12 hours': [
    [0, 'authority one away'],
    [0, 'authority two away'],
    [12 * hourMs, 'authority one well'],
    [12 * hourMs, 'authority two well'],
  ],
  'both away for 7 days': [
    [0, 'authority one away'],
    [0, 'authority two away'],
    [7 * dayMs, 'authority one well'],
    [7 * dayMs, 'authority two well'],
  ],
  'mass revocation by ARI': [[0, 'windows one']],
} as const satisfies Readonly<
  Record<string, readonly (readonly [afterMs: number, words: string])[]>
>;

type DrillEvent = keyof typeof events;

/** In days. */
const lifetimes = [6, 45, 90] as const;

export interface DrillReport {
  readonly event: string;
  readonly lifetimeDays: number;
  readonly names: number;
  /** The number of names that were ever live without a valid certificate at a full hour. */
  readonly everWithout: number;
  readonly mostOrdersAnHour: number;
  /** The most names that were more than an hour overdue at a full hour. */
  readonly largestBacklog: number;
}

export interface DrillSize {
  readonly names: number;
  readonly days: number;
}

export const drill = async (
  size: DrillSize,
  onReport: (report: DrillReport) => void,
): Promise<void> => {
  for (const event of Object.keys(events) as readonly DrillEvent[]) {
    for (const lifetimeDays of lifetimes) onReport(await drillOne(size, event, lifetimeDays));
  }
};

const drillOne = async (
  { names, days }: DrillSize,
  event: DrillEvent,
  lifetimeDays: number,
): Promise<DrillReport> => {
  const simulation = new Simulation(`drill of ${event}, ${String(lifetimeDays)} days`);
  await simulation.open();
  const seen = watch(simulation);
  await simulation.live(storyOf({ names, days }, event, lifetimeDays));
  const report = { event, lifetimeDays, names, ...seen() };
  simulation.close();
  return report;
};

const storyOf = ({ names, days }: DrillSize, event: DrillEvent, lifetimeDays: number): Story => {
  const hosts = Array.from({ length: names }, (_, n) => `n${String(n + 1)}.north.test`);
  const step = (at: number, who: string, words: string): Step => ({
    at,
    who,
    words: words.split(' '),
  });
  return {
    seed: 'drill',
    days,
    steps: [
      step(0, 'weather', `lifetime one ${String(lifetimeDays)}`),
      step(0, 'weather', `lifetime two ${String(lifetimeDays)}`),
      ...hosts.flatMap((host, n) => [
        step((n + 1) * 120_000, 'north', `adds ${host}`),
        step((n + 1) * 120_000 + 60_000, 'north', `publishes ${host}`),
      ]),
      ...events[event].map(([afterMs, words]) => step(10 * dayMs + afterMs, 'weather', words)),
    ],
  };
};

const liveNow = `
  select d.host, d.due_at, c.not_after
  from domains d left join certificates c on c.host = d.host and c.removed_at is null
  where d.state = 'live'`;

interface LiveName {
  readonly host: string;
  readonly due_at: number | null;
  readonly not_after: number | null;
}

const watch = ({ time, databaseFile, world }: Simulation) => {
  const database = new SqliteDatabase(databaseFile, { readonly: true });
  const look = database.prepare<[], LiveName>(liveNow);
  const without = new Set<string>();
  let largestBacklog = 0;
  const again = (): void => {
    time.as(undefined, () =>
      time.after(hourMs, () => {
        const live = look.all();
        for (const { host, not_after: end } of live)
          if (end === null || end <= time.now) without.add(host);
        const late = live.filter(({ due_at: due }) => due !== null && due < time.now - hourMs);
        largestBacklog = Math.max(largestBacklog, late.length);
        again();
      }),
    );
  };
  again();
  return () => {
    database.close();
    const orders = Object.values(world.authorities).flatMap((authority) => authority.orders);
    const byHour = Map.groupBy(orders, ({ at }) => Math.floor(at / hourMs));
    const mostOrdersAnHour = Math.max(0, ...[...byHour.values()].map(({ length }) => length));
    return { everWithout: without.size, mostOrdersAnHour, largestBacklog };
  };
};
