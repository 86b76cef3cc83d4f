import { mkdtemp, rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import puppeteer, { type Browser } from 'puppeteer-core';
import { startGuard } from '../servers/debian-server.ts';
import { findBrowser, findShell } from './browser-program.ts';
import { neverMs } from '../until.ts';

export type BrowserKind = 'chromium' | 'firefox';

export interface LaunchedBrowser {
  readonly browser: Browser;
  readonly close: () => Promise<void>;
}

/** Ends with this process, even if that is killed, and leaves no profile behind. */
export const launchBrowser = async (kind: BrowserKind): Promise<LaunchedBrowser> => {
  const isFirefox = kind === 'firefox';
  const { executable, environment } = await (isFirefox ? findBrowser('firefox-esr') : findShell());
  const folder = await mkdtemp(join(tmpdir(), `animal-store-${kind}-`));
  const guard = startGuard(folder);
  const browser = await puppeteer.launch({
    // The guard ends it; the handlers of the driver would keep this process from ending by a signal.
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
    // Chromium over a pipe, which closes with this process and lets it end.
    ...(isFirefox ? { browser: kind } : { headless: 'shell', pipe: true, args: chromiumArguments }),
    executablePath: executable,
    userDataDir: join(folder, 'profile'),
    env: { ...process.env, ...environment, HOME: folder, TMPDIR: folder },
    timeout: neverMs,
  });
  guard.write(`${browser.process()?.pid ?? ''}\n`);
  return {
    browser,
    close: async () => {
      await browser.close();
      guard.end('\n');
      await rm(folder, { recursive: true, force: true });
    },
  };
};

const chromiumArguments = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'];

let shared: Promise<Browser> | undefined;

/** One Chromium for all the files that a worker runs. */
export const sharedChromium = async (): Promise<Browser> => {
  if (shared && !(await shared.catch(() => undefined))?.connected) shared = undefined;
  return (shared ??= launchShared());
};

const launchShared = async (): Promise<Browser> => {
  const { browser } = await launchBrowser('chromium');
  const program = browser.process();
  program?.unref();
  for (const stream of program?.stdio ?? []) if (stream instanceof Socket) stream.unref();
  return browser;
};
