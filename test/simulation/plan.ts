import { Pen, type PenOf } from './pen.ts';
import { planFleet } from './plan-fleet.ts';
import { planOwners } from './plan-owners.ts';
import { planRare } from './plan-rare.ts';
import { planWeather } from './plan-weather.ts';
import type { Step, Story } from './story.ts';
import { chanceOf } from './world/chance.ts';
import { dayMs } from './world/durations.ts';

export interface PlanOptions {
  readonly days: number;
  /** Nobody dies, clocks show the true time, and no request fails by chance. */
  readonly isOrderly?: boolean;
}

/** What happens to a store, as its seed says. */
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
