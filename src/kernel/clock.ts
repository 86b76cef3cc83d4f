/** The time, from outside. It may jump: nothing may count on two readings being in order. */
export abstract class Clock {
  abstract now(): Date;
}
