import type { Law } from './law.ts';

/** What no weather causes. */
const faults =
  /TypeError|RangeError|ReferenceError|SyntaxError|constraint|corrupt|is not a function|undefined \(reading|is not one of|parked/i;

export const noFaultIsLogged: Law = {
  name: 'Nothing goes wrong that no weather explains',
  onLog: (process, line) => (faults.test(line) ? { process, line } : undefined),
};
