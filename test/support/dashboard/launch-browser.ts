import { execFile } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { basename, delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import puppeteer, { type Browser } from 'puppeteer-core';
import { libraryEnvironment, startGuard } from '../servers/debian-server.ts';
import { neverMs } from '../until.ts';

const cache = join(import.meta.dirname, '../../..', '.cache', 'debian');

interface Kind {
  /** The environment variable that names another program. */
  readonly variable: string;
  /** The possible names of an installed program. */
  readonly names: readonly string[];
  /**
   * The program's path in Debian's package. The script in usr/bin would not do, because it uses paths of the whole
   * machine.
   */
  readonly program: string;
}

/** Keyed by the names of Debian's packages. */
const kinds = {
  chromium: {
    variable: 'CHROMIUM_PATH',
    names: ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'],
    program: 'usr/lib/chromium/chromium',
  },
  'chromium-headless-shell': {
    variable: 'CHROMIUM_PATH',
    names: ['chromium-headless-shell'],
    program: 'usr/lib/chromium/chromium-headless-shell',
  },
  'firefox-esr': {
    variable: 'FIREFOX_PATH',
    names: ['firefox-esr', 'firefox'],
    program: 'usr/lib/firefox-esr/firefox-esr',
  },
} as const satisfies Readonly<Record<string, Kind>>;
type BrowserName = keyof typeof kinds;

interface BrowserProgram {
  readonly executable: string;
  /** Additional environment variables. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Finds the program from its variable, or an installed one, or unpacks Debian's package without installing it. */
const findBrowser = async (name: BrowserName = 'chromium'): Promise<BrowserProgram> => {
  const { variable, names, program } = kinds[name];
  const chosen = process.env[variable];
  if (chosen) return { executable: chosen, environment: {} };
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/bin'];
  const places = folders.flatMap((folder) => names.map((one) => join(folder, one)));
  const installed = places.find((place) => existsSync(place));
  if (installed !== undefined) return { executable: installed, environment: {} };
  const root = join(cache, name);
  const executable = join(root, program);
  if (!existsSync(executable))
    await unpack(name, root).catch((cause: unknown) => advise(name, cause));
  return { executable, environment: environmentOf(root) };
};

/**
 * Finds Chromium's headless shell, in which a page costs a quarter of the processor time, or else the whole Chromium.
 */
const findShell = (): Promise<BrowserProgram> =>
  findBrowser('chromium-headless-shell').catch(() => findBrowser('chromium'));

const environmentOf = (root: string): Readonly<Record<string, string>> => {
  const { LD_LIBRARY_PATH = '' } = libraryEnvironment(root);
  const nested = globSync(join(root, 'usr/lib/*-linux-gnu/pulseaudio'));
  return {
    LD_LIBRARY_PATH: [LD_LIBRARY_PATH, ...nested].join(delimiter),
    // Uses the unpacked fonts if the machine has none.
    ...(existsSync(join(root, 'etc/fonts/fonts.conf')) && { FONTCONFIG_SYSROOT: root }),
  };
};

const advise = (name: BrowserName, cause: unknown): never => {
  const advice = `Install the package ${name}, or set ${kinds[name].variable} to such a browser.`;
  throw new Error(`No browser, and none could be downloaded. ${advice}\n${String(cause)}`, {
    cause,
  });
};

/** Apt determines the missing libraries. Root is not needed. */
const unpack = async (name: BrowserName, root: string): Promise<void> => {
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(`${root}.`);
  try {
    await download(name, folder);
    const unpacked = join(folder, 'root');
    const archives = globSync(join(folder, 'cache/archives/*.deb'));
    for (const archive of archives) await run('dpkg', ['-x', archive, unpacked]);
    await addInstalled(kinds[name].program, unpacked);
    await rename(unpacked, root).catch((error: unknown) => {
      // Another process unpacked it first, and its folder is equivalent.
      if (!existsSync(join(root, kinds[name].program))) throw error;
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

/** Chromium looks for data beside its program, and apt does not download the installed parts of it. */
const addInstalled = async (program: string, root: string): Promise<void> => {
  for (const path of globSync(`/${dirname(program)}/*.*`)) {
    const target = join(root, dirname(program), basename(path));
    if (!existsSync(target)) await copyFile(path, target);
  }
};

/** Uses private package lists, because the machine's may be missing or outdated and only root may refresh them. */
const download = async (name: BrowserName, folder: string): Promise<void> => {
  for (const name of ['state/lists/partial', 'cache/archives/partial']) {
    await mkdir(join(folder, name), { recursive: true });
  }
  const options = [
    ...['Debug::NoLocking=1', 'APT::Sandbox::User=root', 'Dir::State::status=/var/lib/dpkg/status'],
    ...[`Dir::State=${folder}/state`, `Dir::Cache=${folder}/cache`],
  ].flatMap((option) => ['-o', option]);
  await run('apt-get', [...options, 'update']);
  const wanted = ['--download-only', '--yes', '--no-install-recommends', name];
  await run('apt-get', [...options, 'install', ...wanted]);
};

const run = (command: string, args: readonly string[]): Promise<unknown> =>
  promisify(execFile)(command, args, {
    timeout: 300_000,
    env: { ...process.env, LC_ALL: 'C' },
    maxBuffer: 16 * 1024 * 1024,
  });

export type BrowserKind = 'chromium' | 'firefox';

interface LaunchedBrowser {
  readonly browser: Browser;
  readonly close: () => Promise<void>;
}

/** The browser ends with this process, even if that is killed, and leaves no profile behind. */
export const launchBrowser = async (kind: BrowserKind): Promise<LaunchedBrowser> => {
  const isFirefox = kind === 'firefox';
  const { executable, environment } = await (isFirefox ? findBrowser('firefox-esr') : findShell());
  const folder = await mkdtemp(join(tmpdir(), `animal-store-${kind}-`));
  const guard = startGuard(folder);
  const browser = await puppeteer.launch({
    // The guard ends the browser; the driver's handlers would prevent signals from ending this process.
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
    // Chromium uses a pipe, which closes with this process and does not keep it alive.
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
