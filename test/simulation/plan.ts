import { Pen, type PenOf, type Step, type Story } from './story.ts';
import { planOwners } from './plan-owners.ts';
import { planRare } from './plan-rare.ts';
import { planWeather } from './plan-weather.ts';
import { chanceOf } from './world/chance.ts';
import { dayMs, hourMs, minuteMs, secondMs } from './world/durations.ts';
import { processNames, type ProcessName } from './fleet.ts';

export interface PlanOptions {
  readonly days: number;
  /** No process dies, clocks are right, and no request fails randomly. */
  readonly isOrderly?: boolean;
}

export const planStory = (seed: string, { days, isOrderly = false }: PlanOptions): Story => {
  const steps: Step[] = [];
  const chance = chanceOf(`${seed}/story`);
  const end = days * dayMs;
  const penOf: PenOf = (...subject) => new Pen(steps, chance.of(...subject));
  planOwners(penOf, end);
  planWeather(penOf, { end, isOrderly });
  if (!isOrderly) {
    planFleet(penOf, end);
    planRare(penOf, end);
  }
  const inTime = steps.filter(({ at }) => at < end);
  return { seed, days, steps: inTime.toSorted((one, other) => one.at - other.at) };
};

/** The clocks of workers and the API differ from the true time by at most this much. */
const mostAheadMs = 5 * minuteMs;

const planFleet = (penOf: PenOf, end: number): void => {
  for (const name of processNames) {
    planDeaths(penOf('deaths', name), name, end);
    planClock(penOf('clock', name), name, end);
  }
};

const planDeaths = (pen: Pen, name: ProcessName, end: number): void => {
  for (;;) {
    pen.wait(2 * hourMs, 10 * dayMs);
    if (pen.at >= end) return;
    const { chance } = pen;
    const downMs = Math.round(secondMs * ((6 * hourMs) / secondMs) ** chance.next());
    const down = String(Math.max(1, Math.round(downMs / secondMs)));
    const when = chance.pick(['now', 'before', 'after', 'before', 'after']);
    // Most important commits come soon after the first one of a piece of work.
    const commit = String(1 + chance.int(chance.pick([4, 40])));
    pen.write(`${name} dies ${when === 'now' ? 'now' : `${when} ${commit}`} ${down}`);
  }
};

const planClock = (pen: Pen, name: ProcessName, end: number): void => {
  for (;;) {
    pen.wait(6 * hourMs, 12 * dayMs);
    if (pen.at >= end) return;
    const aheadMs = Math.round((2 * pen.chance.next() - 1) * mostAheadMs);
    pen.write(`${name} shows ${String(pen.chance.happens(0.3) ? 0 : aheadMs)}`);
  }
};
