import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { first, loadCore } from './programs.ts';

/** How long answers took, in milliseconds. */
export interface Waits {
  readonly median: number;
  readonly p99: number;
  readonly longest: number;
}

export interface Question {
  readonly url: string;
  /** One request each. */
  readonly everyMs: number;
  readonly key?: string;
}

/**
 * Asks from the core of the load, whether or not earlier answers have come.
 * @returns `stop` ends it before its time
 * @throws Error when an answer is not 200
 */
export const startAsking = ({ url, everyMs, key = '' }: Question, milliseconds: number) => {
  const command = [process.execPath, 'bench/probe.ts', url, String(everyMs), String(milliseconds)];
  const args = ['-c', loadCore, ...first, ...command, key];
  const timeout = milliseconds + 30_000;
  const asking = promisify(execFile)('taskset', args, { timeout });
  const waits = asking.then(({ stdout }) => JSON.parse(stdout) as Waits);
  // Its user may be at something else when it fails.
  waits.catch(() => undefined);
  return { waits, stop: () => asking.child.kill() };
};
