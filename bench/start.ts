import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { endsWithUs, first, freePort, packaged, cpuSecondsOf } from './programs.ts';
import { atMost, target, type Report } from './report.ts';
import { median } from './rounds.ts';
import { storeWithAnimals } from './store.ts';

const starts = 7;
const helps = 3;

/** Measures the time from start to the first answer of `/readyz`, and `--help` of every command, on all cores. */
export const startBench = async (folder: string): Promise<Report> => {
  const settings = { DATABASE_URL: `sqlite:${join(folder, 'start.db')}`, DATA_DIR: folder };
  await storeWithAnimals(settings, 0);
  // The first start fills the caches of the disk and of compiled code.
  await startOf(settings);
  const ready: Start[] = [];
  for (let start = 0; start < starts; start++) ready.push(await startOf(settings));
  const help = [];
  for (const command of await commands())
    help.push({ command, seconds: await secondsOfHelp(command) });
  const slowest = help.reduce((most, one) => (one.seconds > most.seconds ? one : most));
  return {
    heading: 'start, all roles, SQLite, caches filled by a start before',
    lines: [
      `${String(starts)} starts: ${inWords(ready.map(({ seconds }) => seconds))}`,
      `of the processor until then: ${inWords(ready.map(({ cpuSeconds }) => cpuSeconds))}`,
      `--help of ${String(help.length)} commands: median ${inWords([median(help.map(({ seconds }) => seconds))])}`,
      `the slowest: ${slowest.command || 'without a command'}`,
    ],
    targets: [
      target('start to /readyz', median(ready.map(({ seconds }) => seconds)), atMost(0.6, 's')),
      target('--help of the slowest command', slowest.seconds, atMost(0.15, 's')),
    ],
  };
};

interface Start {
  readonly seconds: number;
  /** Sum over all cores. */
  readonly cpuSeconds: number;
}

const inWords = (seconds: readonly number[]): string =>
  `${seconds.map((one) => one.toFixed(2)).join(', ')} s`;

const program = (args: readonly string[], settings: Readonly<Record<string, string>> = {}) => {
  const [command = '', ...rest] = [...first, packaged, ...args];
  const env = { ...process.env, ...settings };
  return endsWithUs(spawn(command, rest, { stdio: 'ignore', env }));
};

const startOf = async (settings: Readonly<Record<string, string>>): Promise<Start> => {
  const port = String(await freePort());
  const begin = performance.now();
  const child = program(['serve'], {
    ...settings,
    PORT: port,
    EDGE_HTTP_PORT: '0',
    EDGE_HTTPS_PORT: '0',
  });
  const ended = once(child, 'exit');
  try {
    while (!(await isReady(port))) {
      if (child.exitCode !== null) throw new Error('it ended before it was ready');
      await delay(5);
    }
    return {
      seconds: (performance.now() - begin) / 1000,
      cpuSeconds: cpuSecondsOf(child.pid ?? 0),
    };
  } finally {
    child.kill();
    await ended;
  }
};

const isReady = (port: string): Promise<boolean> =>
  new Promise((resolve) => {
    request({ host: '127.0.0.1', port, path: '/readyz', agent: false })
      .once('response', (answer) => {
        answer.resume();
        resolve(answer.statusCode === 200);
      })
      .once('error', () => {
        resolve(false);
      })
      .end();
  });

/** The commands in docs/commands.md, which is generated from the program. The first entry is empty: `--help` alone. */
const commands = async (): Promise<readonly string[]> => {
  const page = await readFile('docs/commands.md', 'utf8');
  const names = [...page.matchAll(/^\| `([a-z][a-z-]*(?: [a-z][a-z-]*)?)/gm)].map(
    ([, name = '']) => name,
  );
  if (names.length === 0) throw new Error('docs/commands.md lists no command');
  return ['', ...new Set(names)];
};

const secondsOfHelp = async (command: string): Promise<number> => {
  const times: number[] = [];
  for (let time = 0; time < helps; time++) {
    const begin = performance.now();
    const child = program([...command.split(' ').filter((word) => word !== ''), '--help']);
    const [code] = (await once(child, 'exit')) as [number | null];
    if (code !== 0) throw new Error(`${command} --help ends with ${String(code)}`);
    times.push((performance.now() - begin) / 1000);
  }
  return median(times);
};
