import { globSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findServer } from '../support/servers/debian-server.ts';
import { lastingFolder } from '../support/service/lasting-folder.ts';
import type { Settings } from '../support/service/service-process.ts';

/** The clock of service processes, which can be set while they run; their timers go on as before. */
export interface FakeClock {
  /** For a process that is to have it. */
  readonly settings: Settings;
  /** From now on it is so many seconds later than it would be; one that was stopped goes on. */
  advance(seconds: number): Promise<void>;
  /** What it shows, unless it is stopped. */
  now(): Date;
  /** It stands still: nothing comes to its time. */
  stop(): Promise<void>;
  /** Another test may have it now: no process may use it any more, but those that commands share. */
  remove(): Promise<void>;
}

/** Of clocks that nobody has now. */
const freeFiles: string[] = [];
let clocks = 0;

export const newFakeClock = async (): Promise<FakeClock> => {
  const { root } = await findServer('faketime', ['faketime', 'libfaketime']);
  const [library] = globSync(join(root, 'usr/lib/*/faketime/libfaketimeMT.so.1'));
  if (library === undefined) throw new Error(`no libfaketimeMT.so.1 in ${root}/usr/lib`);
  const file = freeFiles.pop() ?? join(lastingFolder(), `clock-${String((clocks += 1))}`);
  let offset = 0;
  const write = async (time: string): Promise<void> => {
    // Whole or absent: it is read all the time.
    await writeFile(`${file}.next`, `${time}\n`);
    await rename(`${file}.next`, file);
  };
  let written = Promise.resolve();
  /** One after the other: several visitors may share a clock. */
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
