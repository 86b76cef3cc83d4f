import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { lockFile } from '../support/servers/foreign-lock.ts';
import { inProgress, unavailable } from './fault-words.ts';
import type { Fault, Scene } from './fault.ts';
import { isWriter } from './load-record.ts';
import { outage } from './outage.ts';

const mayAnswer = [...unavailable, ...inProgress];
/** Writers wait up to 2 seconds, then get 503; on a busy machine a little more. */
const refusedWithinMs = 5_000;

const lockedFile = (): Fault => {
  let lock: ReturnType<typeof lockFile> | undefined;
  return {
    name: 'another program locks the file',
    databases: ['sqlite'],
    mayAnswer,
    recoversWithinMs: 10_000,
    strike: outage({
      away: ({ ground }) => {
        lock = lockFile(ground.database.url);
        return Promise.resolve();
      },
      back: () => Promise.resolve(lock?.release()),
      readersSee: ['200'],
      goesOn: (client) => !isWriter(client),
      refusedWithinMs,
    }),
  };
};

/** Of what a process may write to any file (RLIMIT_FSIZE of setrlimit(2)): nothing, or all. */
const limitFiles = ({ ground }: Scene, bytes: '0' | 'unlimited'): Promise<unknown> =>
  promisify(execFile)('prlimit', [
    `--pid=${ground.services[0]!.pid}`,
    `--fsize=${bytes}:unlimited`,
  ]);

const unwritableFile: Fault = {
  name: 'the file cannot be written any more',
  databases: ['sqlite'],
  mayAnswer,
  recoversWithinMs: 10_000,
  strike: outage({
    away: (scene) => limitFiles(scene, '0'),
    back: (scene) => limitFiles(scene, 'unlimited'),
    readersSee: ['200'],
  }),
};

/** Faults of a file that the service writes. */
export const sqliteFaults: readonly Fault[] = [lockedFile(), unwritableFile];
