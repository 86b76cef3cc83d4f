import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findFreePort, startGuard } from '../support/servers/debian-server.ts';
import { emptyDatabase } from '../support/servers/databases.ts';
import { until } from '../support/until.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly version: string;
};

/** The package after `npm install` in an empty folder, without its bundled packages. */
const install = async (folder: string): Promise<void> => {
  await run('make', ['dist'], { cwd: root });
  await run('npm', ['pack', '--silent', '--pack-destination', folder, './dist'], { cwd: root });
  await run('tar', ['-xzf', `animal-store-${version}.tgz`], { cwd: folder });
  const packages = join(folder, 'node_modules');
  await mkdir(join(packages, '.bin'), { recursive: true });
  await cp(join(folder, 'package'), join(packages, 'animal-store'), { recursive: true });
  await symlink(join(root, 'node_modules/better-sqlite3'), join(packages, 'better-sqlite3'));
  await symlink('../animal-store/bin/animal-store.cjs', join(packages, '.bin/animal-store'));
  await writeFile(join(folder, 'package.json'), '{}');
};

const textOf = async (url: string): Promise<string> => (await fetch(url)).text();

/** Expects that the files that a page loads contain the sources that `pattern` matches. */
const expectSources = async (url: string, pattern: string): Promise<void> => {
  const links = [...(await textOf(url)).matchAll(/(?:href|src)="([^"]+\.(?:css|js|svg))"/g)];
  const loaded = await Promise.all(links.map(([, path = '']) => textOf(new URL(path, url).href)));
  const sources = globSync(pattern, { cwd: root });
  expect(sources).not.toEqual([]);
  const isLoaded = (path: string) =>
    loaded.join('\n').includes(readFileSync(join(root, path), 'utf8'));
  expect(sources.filter((path) => !isLoaded(path))).toEqual([]);
};

describe('the packed animal-store', () => {
  let folder: string;
  let env: Readonly<Record<string, string>>;
  let guard: ReturnType<typeof startGuard>;
  let service: ChildProcess | undefined;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'animal-store-packed-'));
    guard = startGuard(folder);
    await install(folder);
    const home = join(folder, 'home');
    await mkdir(home);
    const port = String(await findFreePort());
    const ports = { PORT: port, EDGE_HTTP_PORT: '0', EDGE_HTTPS_PORT: '0' };
    env = { PATH: process.env['PATH'] ?? '', HOME: home, npm_config_offline: 'true', ...ports };
  });
  afterAll(async () => {
    if (service) service.kill('SIGKILL');
    guard.end();
    await rm(folder, { recursive: true, force: true });
  });

  test('migrates a MySQL database', async () => {
    const database = await emptyDatabase('mysql');
    try {
      const program = join(folder, 'node_modules/.bin/animal-store');
      const { stdout } = await run(program, ['migrate', 'up', '--json'], {
        cwd: folder,
        env: { ...env, DATABASE_URL: database.url },
      });
      expect(stdout).toContain('0001-foundation');
    } finally {
      await database.drop();
    }
  });

  test('contains the program as JavaScript, its documents, and the licences of bundled packages', async () => {
    const inside = join(folder, 'node_modules/animal-store');
    const files = globSync('{package.json,{bin,docs,src,test}/**/*.*}', { cwd: inside });
    const documents = globSync('{bin/*,docs/*.md,docs/decisions/*}', { cwd: root });
    expect(files.toSorted()).toEqual(['package.json', ...documents].toSorted());
    const { dependencies } = JSON.parse(readFileSync(join(inside, 'package.json'), 'utf8')) as {
      readonly dependencies: object;
    };
    expect(Object.keys(dependencies)).toEqual(['better-sqlite3']);
    const licences = readFileSync(join(inside, 'THIRD-PARTY-LICENCES.txt'), 'utf8');
    for (const name of ['koa', 'kysely', 'idiomorph', '@zxcvbn-ts/language-common']) {
      expect(licences).toMatch(new RegExp(`^${name} [\\d.]+ \\([\\w-]+\\)\\n\\n\\S`, 'm'));
    }
    expect((await stat(join(folder, `animal-store-${version}.tgz`))).size).toBeLessThan(5_000_000);
  });

  test('shows source lines in a stack trace', async () => {
    const bin = join(folder, 'node_modules/.bin/animal-store');
    const broken = { ...env, LOG_LEVEL: 'debug', DATABASE_URL: 'sqlite:/proc/none/store.db' };
    const ended = run(bin, ['account', 'list'], { cwd: folder, env: broken });
    await expect(ended).rejects.toMatchObject({
      stderr: expect.stringMatching(/at .*src\/app\/data-folder\.ts:\d+:\d+/),
    });
  });

  test('serves with npx in an empty folder: its printed curl line works, and its pages load their styles', async () => {
    const child = spawn('npx', ['animal-store', 'serve'], { cwd: folder, env, detached: true });
    service = child;
    guard.write(`-${String(child.pid)}\n`);
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    const line = await until('it prints a curl line', () => {
      if (child.exitCode !== null) throw new Error(`it ended:\n${stdout}\n${stderr}`);
      return /^ *curl .*$/m.exec(stdout)?.[0];
    });
    expect((await run('sh', ['-c', line])).stdout).toBe('[]');
    const origin = `http://127.0.0.1:${env['PORT'] ?? ''}`;
    expect(await textOf(`${origin}/dashboard/sign-in`)).toContain('Sign in');
    await expectSources(`${origin}/dashboard/sign-in`, 'src/adapters/dashboard/**/*.{css,svg}');
    await expectSources(`${origin}/docs`, 'src/adapters/http/reference/*.{css,js}');
    process.kill(-(child.pid ?? 0), 'SIGTERM');
    await once(child, 'close');
    expect(stdout).toContain(`"version":"${version}"`);
  });

  test('prints its version, even after a command', async () => {
    const bin = join(folder, 'node_modules/.bin/animal-store');
    const lines = [['--version'], ['key', 'create', '--version']];
    const printed = await Promise.all(lines.map((args) => run(bin, args, { cwd: folder, env })));
    expect(printed.map(({ stdout }) => stdout)).toEqual([`${version}\n`, `${version}\n`]);
  });

  test('says in one sentence that Node is too old', async () => {
    const older = `data:text/javascript,Object.defineProperty(process, 'versions', { value: { node: '20.20.2' } })`;
    const places = [
      join(folder, 'node_modules/.bin/animal-store'),
      join(root, 'bin/animal-store.cjs'),
    ];
    for (const bin of places) {
      const ended = run(process.execPath, ['--import', older, bin, '--version'], { env });
      await expect(ended).rejects.toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(
          /^animal-store: needs Node 22\.18 or newer, and this is 20\.20\.2\. .*\n$/,
        ),
      });
    }
  });
});

test('the command names a missing package and says how to install it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'animal-store-stale-'));
  for (const name of ['bin', 'src', 'node_modules']) await mkdir(join(folder, name));
  const bin = join(folder, 'bin/animal-store.cjs');
  await cp(join(root, 'bin/animal-store.cjs'), bin);
  await writeFile(join(folder, 'src/main.ts'), "import 'new-package';\n");
  await expect(run(process.execPath, [bin, '--version'])).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^animal-store: the package new-package is not installed\. Run .*make install.*\n$/,
    ),
  });
  await rm(folder, { recursive: true });
});

test('./animal-store runs from any folder, and through a symbolic link', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'animal-store-link-'));
  const link = join(folder, 'store');
  await symlink(join(root, 'animal-store'), link);
  const { stdout } = await run(link, ['--version'], { cwd: folder });
  expect(stdout.replace(/\+[0-9a-f]{7}$/m, '')).toBe(`${version}\n`);
  await rm(folder, { recursive: true });
});

test('a checkout and an installed package pass V8 the same flags', () => {
  const flagsIn = (path: string) => {
    const text = readFileSync(join(root, path), 'utf8');
    return /(?:"\$node"|env -S node)((?: --[\w=-]+)+)/.exec(text)?.[1];
  };
  expect(flagsIn('animal-store')).toMatch(/--no-allocation-site-pretenuring/);
  expect(flagsIn('bin/animal-store.cjs')).toBe(flagsIn('animal-store'));
});
