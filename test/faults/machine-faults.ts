import { setTimeout as delay } from 'node:timers/promises';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Fault, Scene } from './fault.ts';
import { outage, serverOf } from './outage.ts';
import { lockFile } from '../support/servers/file-lock.ts';
import { isWriter } from './load-record.ts';
import { unavailable, inProgress } from './fault-words.ts';

const hour = 3600;
const between = 1_500;

/** Sets the clock of the service ahead and back, like an operator who corrects it. */
export const clockJump: Fault = {
  name: 'the clock jumps an hour ahead and back',
  databases: ['sqlite', 'mariadb'],
  needs: 'fake clock',
  mayAnswer: inProgress,
  recoversWithinMs: 5_000,
  countsInexactly: true,
  strike: async ({ ground }) => {
    await ground.clock!.advance(hour);
    await delay(between);
    await ground.clock!.advance(-hour);
    await delay(between);
    return {};
  },
};

/** The disk of the database is full until somebody frees space. */
export const fullDisk: Fault = {
  name: 'the disk of the database is full',
  databases: ['sqlite', 'mariadb'],
  needs: 'small disk',
  mayAnswer: [...unavailable, ...inProgress],
  recoversWithinMs: 20_000,
  strike: outage({
    away: ({ ground }) => ground.disk!.fill(),
    back: ({ ground }) => ground.disk!.free(),
    readersSee: ['200'],
  }),
};

const databases = ['mariadb', 'galera'] as const;
/** A little longer than the server keeps locks of a lost connection (`wait_timeout` of mysql-session.ts). */
const recoversWithinMs = 75_000;
const distantMs = 15;
const distantForMs = 3_000;

/** Faults between the service and its database. */
export const networkFaults: readonly Fault[] = [
  {
    name: 'the network to the database goes silent',
    databases,
    mayAnswer: [...unavailable, ...inProgress],
    recoversWithinMs,
    strike: outage({
      away: (scene) => {
        const { proxy } = serverOf(scene);
        proxy.swallowNew(true);
        proxy.loseState();
        return Promise.resolve();
      },
      back: (scene) => {
        serverOf(scene).proxy.swallowNew(false);
        return Promise.resolve();
      },
    }),
  },
  {
    name: 'connections to the database become half-open',
    databases,
    mayAnswer: [...unavailable, ...inProgress],
    recoversWithinMs,
    strike: (scene) => {
      serverOf(scene).proxy.loseState();
      return Promise.resolve({});
    },
  },
  {
    name: `the database is ${distantMs} ms away`,
    databases,
    mayAnswer: [],
    recoversWithinMs: 10_000,
    strike: async (scene) => {
      const { proxy } = serverOf(scene);
      proxy.slowDown(distantMs);
      await delay(distantForMs);
      proxy.slowDown(0);
      return {};
    },
  },
];

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

/** Sets whether a process may write to files (RLIMIT_FSIZE of setrlimit(2)). */
const limitFiles = ({ ground }: Scene, bytes: '0' | 'unlimited'): Promise<unknown> =>
  promisify(execFile)('prlimit', [
    `--pid=${ground.services[0]!.pid}`,
    `--fsize=${bytes}:unlimited`,
  ]);

const unwritableFile: Fault = {
  name: 'the file becomes read-only',
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
