import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { startGuard } from '../servers/debian-server.ts';
import { findShell } from './browser-program.ts';
import { neverMs } from '../until.ts';

/** The environment variable with the address of a browser that serves the whole run. */
export const browserVariable = 'TEST_BROWSER_URL';
const quiet = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
];

export interface LaunchedBrowser {
  readonly endpoint: string;
  stop(): Promise<void>;
}

/** Ends with this test run, even if that is killed, and leaves no profile behind. */
export const launchBrowser = async (): Promise<LaunchedBrowser> => {
  const { executable, environment } = await findShell();
  const folder = await mkdtemp(join(tmpdir(), 'animal-store-browser-'));
  const server = await chromium.launchServer({
    executablePath: executable,
    args: quiet,
    artifactsDir: folder,
    timeout: neverMs,
    env: { ...process.env, ...environment, TMPDIR: folder },
  });
  const { pid, spawnargs } = server.process();
  const [, profile = folder] = /^--user-data-dir=(.*)$/m.exec(spawnargs.join('\n')) ?? [];
  const guards = [startGuard(folder), startGuard(profile)];
  for (const guard of guards) guard.write(`${pid ?? ''}\n`);
  return {
    endpoint: server.wsEndpoint(),
    stop: async () => {
      await server.close();
      for (const guard of guards) guard.end('\n');
      await rm(folder, { recursive: true, force: true });
    },
  };
};
