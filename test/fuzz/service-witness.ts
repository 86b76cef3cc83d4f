import type { LogEntry } from '../support/service/service-log.ts';
import { until } from '../support/until.ts';
import type { FuzzField } from './fuzz-field.ts';

const error = 50;
/** It writes its log at least once a second. */
const lookEveryMs = 1000;

/** Watches what a service says of itself: that it lives, and that it has nothing to complain of. */
export class ServiceWitness {
  readonly #field: FuzzField;
  #read: number;
  #lookedAt = 0;

  constructor(field: FuzzField) {
    this.#field = field;
    this.#read = field.service.stdout().length;
  }

  /** @returns the first thing that is wrong since the last look */
  complaint(): string | undefined {
    const { service } = this.#field;
    if (service.hasEnded()) return `the service ended:\n${service.stderr().slice(-2000)}`;
    if (performance.now() - this.#lookedAt < lookEveryMs) return undefined;
    this.#lookedAt = performance.now();
    if (service.stderr() !== '') return `standard error: ${service.stderr().slice(0, 2000)}`;
    const text = service.stdout().slice(this.#read);
    const end = text.lastIndexOf('\n') + 1;
    this.#read += end;
    for (const line of text.slice(0, end).split('\n').slice(0, -1)) {
      const problem = this.#problemOf(line);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  /** The same, once everything that there was to log is written. */
  async lastComplaint(): Promise<string | undefined> {
    const { service, visitor } = this.#field;
    const mark = `/v1/${crypto.randomUUID()}`;
    if (!service.hasEnded()) {
      await fetch(visitor.origin + mark).catch(() => undefined);
      const isWritten = () =>
        service.hasEnded() || service.stdout().slice(this.#read).includes(mark);
      await until('the log is written', isWritten);
    }
    this.#lookedAt = 0;
    return this.complaint();
  }

  #problemOf(line: string): string | undefined {
    const secret = this.#field.secrets.find((one) => line.includes(one));
    if (secret !== undefined) return `the log has a secret: ${line}`;
    const { level } = parsed(line);
    if (level === undefined) return `a line of the log is no JSON: ${line}`;
    return level >= error ? `the log has an error: ${line}` : undefined;
  }
}

const parsed = (line: string): Partial<LogEntry> => {
  try {
    return JSON.parse(line) as LogEntry;
  } catch {
    return {};
  }
};
