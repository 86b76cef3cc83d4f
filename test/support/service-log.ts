import type { Service } from './service-process.ts';

export interface LogEntry {
  readonly level: number;
  readonly msg: string;
  readonly err?: { readonly type: string };
}

/** What it logged until now. */
export const logOf = (service: Pick<Service, 'stdout'>): readonly LogEntry[] =>
  service
    .stdout()
    .split('\n')
    // The last line may be about to be written.
    .slice(0, -1)
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as LogEntry);

/** Said of the machine and of who runs the tests, not of the service. */
const aboutMachine = /^(the event loop was blocked$|The process runs as root )/;

/** All that it warned of, but for a database that did not answer in time: machines are busy. */
export const complaintsOf = (service: Pick<Service, 'stdout'>): readonly LogEntry[] =>
  logOf(service).filter(
    ({ level, err, msg }) => level >= 40 && err?.type !== 'Unavailable' && !aboutMachine.test(msg),
  );
