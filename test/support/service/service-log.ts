import type { Service } from './service-process.ts';

export interface LogEntry {
  readonly level: number;
  /** Lines about requests have no message. */
  readonly msg?: string;
  readonly err?: { readonly type: string };
}

export const logOf = (service: Pick<Service, 'stdout'>): readonly LogEntry[] =>
  service
    .stdout()
    .split('\n')
    // The last line may be incomplete.
    .slice(0, -1)
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as LogEntry);

/** Warnings about the test machine, its user, and retries, which are not faults of the service. */
const harmless =
  /^the event loop was blocked$|^The process runs as root |will (be retried|be tried again|run again)/;

/** All warnings of the service, except those about a slow database, because machines are busy. */
export const complaintsOf = (service: Pick<Service, 'stdout'>): readonly LogEntry[] =>
  logOf(service).filter(
    ({ level, err, msg }) =>
      level >= 40 &&
      !['Unavailable', 'OutOfTime'].includes(err?.type ?? '') &&
      !harmless.test(msg ?? ''),
  );
