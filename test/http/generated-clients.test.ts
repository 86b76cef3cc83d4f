import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startApi, type RunningApi } from '../support/http/running-api.ts';

const root = join(import.meta.dirname, '../..');
const our = join(root, 'clients/typescript/src/int64-as-strings.ts');

/** The parts of docs/clients.md that its readers save as files, by the heading or words before them. */
const files = {
  'openapi-ts.mjs': ['### openapi-typescript', 0],
  'openapi-fetch.ts': ['### openapi-typescript', 1],
  'hey-api.config.mjs': ['### Hey API', 0],
  'hey-api.ts': ['### Hey API', 1],
  'orval.config.mjs': ['### orval', 0],
  'orval-fetch.ts': ['### orval', 1],
  'orval.ts': ['### orval', 2],
} as const;

const compilerOptions = {
  target: 'es2024',
  lib: ['es2024', 'dom', 'dom.iterable'],
  module: 'esnext',
  moduleResolution: 'bundler',
  strict: true,
  skipLibCheck: true,
  noEmit: true,
  types: ['node'],
  allowImportingTsExtensions: true,
  paths: { 'animal-store-client/int64-as-strings': [our] },
};

/** Generated code names files as bundlers do, and our package is not installed here. */
const bundler = `import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
registerHooks({
  resolve(name, context, next) {
    if (name === 'animal-store-client/int64-as-strings') {
      return next(pathToFileURL(${JSON.stringify(our)}).href, context);
    }
    if (!name.startsWith('.')) return next(name, context);
    const bare = name.replace(/\\.js$/, '');
    for (const path of [name, bare + '.ts']) {
      try {
        return next(path, context);
      } catch {}
    }
    return next(bare + '/index.ts', context);
  },
});
`;

let api: RunningApi;
let folder: string;

const run = async (args: readonly string[], environment = {}): Promise<string> => {
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', ...environment };
  const options = { cwd: folder, env, timeout: 120_000 };
  const { stdout } = await promisify(execFile)('node', [...args], options).catch(
    (error: unknown) => {
      const { stdout: out = '', stderr = '' } = error as { stdout?: string; stderr?: string };
      throw new Error(`${args.join(' ')}\n${out}${stderr}`);
    },
  );
  return stdout;
};
const program = (path: string) => join(root, 'node_modules', path);

beforeAll(async () => {
  api = await startApi('sqlite');
  await mkdir(join(root, '.cache'), { recursive: true });
  folder = await mkdtemp(join(root, '.cache/generated-clients-'));
  await mkdir(join(folder, 'generated'));
  const page = await readFile(join(root, 'docs/clients.md'), 'utf8');
  for (const [name, [heading, at]] of Object.entries(files)) {
    const section = page.split(heading)[1] ?? '';
    const code = [...section.matchAll(/^```(?:js|ts)\n(.*?)^```/gms)][at]?.[1] ?? '';
    await writeFile(join(folder, name), code);
  }
  const config = { compilerOptions, include: ['*.ts', 'generated'] };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
  await writeFile(join(folder, 'bundler.mjs'), bundler);
  await writeFile(join(folder, 'openapi.json'), (await api.send('/v1/openapi.json')).text);
  await Promise.all([
    run(['openapi-ts.mjs']),
    run([program('@hey-api/openapi-ts/bin/run.js'), '--file', 'hey-api.config.mjs']),
    run([program('orval/dist/bin/orval.mjs'), '--config', 'orval.config.mjs']),
  ]);
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await api.close();
});

test('the clients that three generators make, as docs/clients.md says, compile strictly', async () => {
  expect(await run([program('typescript/bin/tsc'), '-p', '.'])).toBe('');
});

test.each(['openapi-fetch.ts', 'hey-api.ts', 'orval.ts'])(
  '%s of docs/clients.md adds an animal to the digit, reads all pages and gets the code of an error',
  async (name) => {
    const { key } = await api.newAccount();
    const ids = [await api.add('Ada', 'sold', key), await api.add('Bob', 'sold', key)];
    const printed = await run(['--import', './bundler.mjs', name], {
      BASE: `${api.origin}/v1`,
      KEY: key,
    });
    const [added, first, second, third, code] = printed.replace(/(?<=\d)n\b/g, '').split('\n');
    expect([added, first, second]).toEqual([
      '9007199254740993',
      `${String(ids[0])} Ada`,
      `${String(ids[1])} Bob`,
    ]);
    expect([third, code]).toEqual([expect.stringMatching(/^\d+ Rex$/), 'invalid_cursor']);
  },
);

test('Redocly finds nothing to warn of in the OpenAPI document', async () => {
  const linter = [program('@redocly/cli/bin/cli.js'), 'lint', 'openapi.json', '--format', 'json'];
  const { totals } = JSON.parse(await run(linter)) as { totals: object };
  expect(totals).toMatchObject({ errors: 0, warnings: 0 });
});
