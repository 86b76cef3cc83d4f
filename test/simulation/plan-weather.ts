import type { Pen, PenOf } from './story.ts';
import { conditions, objectsOf, type Part } from './weather.ts';
import { authorityNames } from './world/world.ts';
import { dayMs, hourMs, minuteMs } from './world/durations.ts';

interface Climate {
  /** Shortest and longest durations: `well` of good weather, `lasts` of bad weather. */
  readonly well: readonly [number, number];
  readonly lasts: readonly [number, number];
}

const climates: Readonly<Record<Part, Climate>> = {
  resolver: { well: [6 * hourMs, 14 * dayMs], lasts: [5 * minuteMs, 3 * dayMs] },
  zone: { well: [dayMs, 20 * dayMs], lasts: [5 * minuteMs, 2 * dayMs] },
  authority: { well: [8 * hourMs, 8 * dayMs], lasts: [5 * minuteMs, 12 * hourMs] },
  view: { well: [6 * hourMs, 6 * dayMs], lasts: [10 * minuteMs, 12 * hourMs] },
  receiver: { well: [12 * hourMs, 12 * dayMs], lasts: [5 * minuteMs, 7 * dayMs] },
  mail: { well: [12 * hourMs, 12 * dayMs], lasts: [5 * minuteMs, 2 * dayMs] },
  signals: { well: [6 * hourMs, 10 * dayMs], lasts: [minuteMs, 12 * hourMs] },
};

/** Authorities that fail randomly draw for each request, so histories would depend on the number of requests. */
const isCertain = (part: Part, condition: string): boolean =>
  part !== 'authority' || condition === 'away' || condition === 'silent';

/** Planned separately: see `planRare`. */
const rare = 'leaving';

interface WeatherOptions {
  readonly end: number;
  readonly isOrderly: boolean;
}

export const planWeather = (penOf: PenOf, { end, isOrderly }: WeatherOptions): void => {
  for (const part of Object.keys(climates) as readonly Part[]) {
    for (const object of objectsOf[part]) {
      const its = conditions[part].filter(
        (one) => one !== rare && (!isOrderly || isCertain(part, one)),
      );
      planPart(penOf('weather', part, object), { part, object, conditions: its, end });
    }
  }
  planWindows(penOf('windows'), end);
  for (const name of authorityNames) planLifetimes(penOf('lifetimes', name), name, end);
};

interface PartOptions {
  readonly part: Part;
  readonly object: string;
  readonly conditions: readonly string[];
  readonly end: number;
}

const planPart = (pen: Pen, options: PartOptions): void => {
  const { part, object, conditions: its, end } = options;
  const { well } = climates[part];
  const [first = '', ...others] = its;
  const goneFrom = isOfFirstAuthority(options) ? goneForGoodFrom(pen, end) : end;
  for (;;) {
    pen.wait(...well);
    if (pen.at >= goneFrom) break;
    const condition = pen.chance.pick([first, ...others]);
    pen.write(`weather ${part} ${object} ${condition}`);
    pass(pen, options, condition);
    pen.write(`weather ${part} ${object} well`);
  }
  if (goneFrom < end) pen.write(`weather ${part} ${object} away`);
};

const isOfFirstAuthority = ({ part, object }: PartOptions): boolean =>
  part === 'authority' && object === 'one';

/** In some stories the first authority never comes back, so the second one takes over. */
const goneForGoodFrom = ({ chance }: Pen, end: number): number =>
  end > 12 * dayMs && chance.happens(0.15) ? (0.4 + 0.4 * chance.next()) * end : end;

/** An authority is sometimes away for 12 hours, and rarely for a week. */
const pass = (pen: Pen, { part }: PartOptions, condition: string): void => {
  const isOutage = part === 'authority' && condition === 'away';
  const lasts = isOutage
    ? pen.chance.pick([undefined, 12 * hourMs, 12 * hourMs, 7 * dayMs])
    : undefined;
  if (lasts === undefined) pen.wait(...climates[part].lasts);
  else pen.at += lasts;
};

const planWindows = (pen: Pen, end: number): void => {
  for (;;) {
    pen.wait(4 * dayMs, 60 * dayMs);
    if (pen.at >= end) return;
    pen.write(`weather windows ${pen.chance.pick(['one', 'one', 'two'])}`);
  }
};

/** Authorities only shorten lifetimes. Some have short ones from the first day. */
const planLifetimes = (pen: Pen, name: string, end: number): void => {
  for (const days of shorterLifetimes) {
    if (!pen.chance.happens(0.25)) pen.jump(end);
    pen.write(`weather lifetime ${name} ${String(days)}`);
  }
};

const shorterLifetimes = [45, 6] as const;
