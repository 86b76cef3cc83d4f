import { processNames, type ProcessName } from './fleet.ts';
import { day, hour, minute, type Pen, type PenOf } from './pen.ts';

const second = 1000;
/** Workers and the API differ by at most so much from the true time. */
const mostAheadMs = 5 * minute;

/** When processes die, and what their clocks show. */
export const planFleet = (penOf: PenOf, end: number): void => {
  for (const name of processNames) {
    planDeaths(penOf('deaths', name), name, end);
    planClock(penOf('clock', name), name, end);
  }
};

const planDeaths = (pen: Pen, name: ProcessName, end: number): void => {
  for (;;) {
    pen.wait(2 * hour, 10 * day);
    if (pen.at >= end) return;
    const { chance } = pen;
    const downMs = Math.round(second * ((6 * hour) / second) ** chance.next());
    const down = String(Math.max(1, Math.round(downMs / second)));
    const when = chance.pick(['now', 'before', 'after', 'before', 'after']);
    // Most commits that matter come soon after the first one of a piece of work.
    const commit = String(1 + chance.int(chance.pick([4, 40])));
    pen.write(`${name} dies ${when === 'now' ? 'now' : `${when} ${commit}`} ${down}`);
  }
};

const planClock = (pen: Pen, name: ProcessName, end: number): void => {
  for (;;) {
    pen.wait(6 * hour, 12 * day);
    if (pen.at >= end) return;
    const aheadMs = Math.round((2 * pen.chance.next() - 1) * mostAheadMs);
    pen.write(`${name} shows ${String(pen.chance.happens(0.3) ? 0 : aheadMs)}`);
  }
};
