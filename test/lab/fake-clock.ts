import { globSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findServer } from '../support/servers/debian-server.ts';
import { lastingFolder } from '../support/service/lasting-folder.ts';
import type { Settings } from '../support/service/service-process.ts';

/** The clock of service processes, which can be set at any time. Their timers are not affected. */
export interface FakeClock {
  /** The environment of a process that uses this clock. */
  readonly settings: Settings;
  /** Advances the clock by this many seconds. A stopped clock runs again. */
  advance(seconds: number): Promise<void>;
  /** The time of the clock, unless it is stopped. */
  now(): Date;
  /** Stops the clock, so that nothing becomes due. */
  stop(): Promise<void>;
  /** Only processes shared by commands may still use it, because another test may get it. */
  remove(): Promise<void>;
}

/** Clocks that are not in use. */
const freeFiles: string[] = [];
let clocks = 0;

export const newFakeClock = async (): Promise<FakeClock> => {
  const { root } = await findServer('faketime', ['faketime', 'libfaketime']);
  const [library] = globSync(join(root, 'usr/lib/*/faketime/libfaketimeMT.so.1'));
  if (library === undefined) throw new Error(`no libfaketimeMT.so.1 in ${root}/usr/lib`);
  const file = freeFiles.pop() ?? join(lastingFolder(), `clock-${String((clocks += 1))}`);
  let offset = 0;
  const write = async (time: string): Promise<void> => {
    // Replaced atomically, because it is read all the time.
    await writeFile(`${file}.next`, `${time}\n`);
    await rename(`${file}.next`, file);
  };
  let written = Promise.resolve();
  /** Changes one after the other, because several visitors may share a clock. */
  const set = (time: string): Promise<void> => (written = written.then(() => write(time)));
  const advance = async (seconds: number): Promise<void> => {
    offset += seconds;
    await set(`${offset >= 0 ? '+' : ''}${offset}s`);
  };
  const now = (): Date => new Date(Date.now() + offset * 1000);
  await advance(0);
  return {
    settings: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      TZ: 'UTC',
    },
    advance,
    now,
    stop: () => set(now().toISOString().slice(0, 19).replace('T', ' ')),
    remove: () => {
      freeFiles.push(file);
      return Promise.resolve();
    },
  };
};
