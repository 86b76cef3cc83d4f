import type { Service } from './service-process.ts';

export interface LogEntry {
  readonly level: number;
  /** A line about a request has none. */
  readonly msg?: string;
  readonly err?: { readonly type: string };
}

export const logOf = (service: Pick<Service, 'stdout'>): readonly LogEntry[] =>
  service
    .stdout()
    .split('\n')
    // The last line may be about to be written.
    .slice(0, -1)
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as LogEntry);

/** Warnings about the machine and the user of the tests, and about what is tried again: no fault of the service. */
const harmless =
  /^the event loop was blocked$|^The process runs as root |will (be retried|be tried again|run again)/;

/** All its warnings, except those about a slow database: machines are busy. */
export const complaintsOf = (service: Pick<Service, 'stdout'>): readonly LogEntry[] =>
  logOf(service).filter(
    ({ level, err, msg }) =>
      level >= 40 &&
      !['Unavailable', 'OutOfTime'].includes(err?.type ?? '') &&
      !harmless.test(msg ?? ''),
  );
