import { failed, ok, warning, type Finding } from './finding.ts';

/** Seconds. Processes of a fleet share leases; an authority refuses what is dated much later. */
const tolerated = 2;
const harmful = 30;
/** An HTTP date has whole seconds, and the answer was under way. */
const coarse = 1.5;

export interface OtherClock {
  readonly name: string;
  /** Milliseconds; NaN if it does not say. */
  readonly time: number;
  /** And what this machine's clock said in that moment. */
  readonly here: number;
}

/** Compares this machine's clock with all that answered. */
export const judgeClocks = (others: readonly (OtherClock | undefined)[]): readonly Finding[] => {
  const known = others.flatMap((one) => (one && Number.isFinite(one.time) ? [one] : []));
  if (known.length === 0) return [ok('No other clock to compare with.')];
  return known.map(({ name, time, here }) => {
    const apart = Math.max(0, Math.abs(time - here) / 1000 - coarse);
    const seen = `The clock of this machine and that of ${name} are ${apart.toFixed(1)} s apart.`;
    const advice = 'Let an NTP service set the clocks.';
    if (apart <= tolerated) return ok(`The clock of this machine agrees with that of ${name}.`);
    return apart <= harmful ? warning(seen, advice) : failed(seen, advice);
  });
};
