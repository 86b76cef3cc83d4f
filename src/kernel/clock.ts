/** The time, from outside. It may jump: nothing may count on two readings being in order. */
export abstract class Clock {
  abstract now(): Date;
}

/** @returns undefined if there is none */
export const earliest = (times: readonly (Date | undefined)[]): Date | undefined =>
  times
    .filter((time) => time !== undefined)
    .toSorted((one, other) => one.getTime() - other.getTime())[0];
