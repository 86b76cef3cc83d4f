import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from '@jest/globals';
import { startApi } from '../http/running-api.ts';

const root = join(import.meta.dirname, '../../..');
const our = join(root, 'clients/typescript/src/int64-as-strings.ts');

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

/** Generated code imports files like bundlers do, and our package is not installed here. */
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

/** A part of docs/clients.md that readers save as a file, by the heading before it. */
export type SavedPart = readonly [heading: string, at: number];

export interface ClientFolder {
  run(...args: readonly string[]): Promise<string>;
  compile(): Promise<string>;
  expectTrial(name: string): Promise<void>;
  close(): Promise<void>;
}

export const openClientFolder = async (
  files: Readonly<Record<string, SavedPart>>,
  packages = join(root, 'node_modules'),
): Promise<ClientFolder> => {
  const api = await startApi('sqlite');
  await mkdir(join(root, '.cache'), { recursive: true });
  const folder = await mkdtemp(join(root, '.cache/generated-clients-'));
  await mkdir(join(folder, 'generated'));
  await symlink(packages, join(folder, 'node_modules'));
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
  return {
    run: (...args) => run(args),
    compile: () => run([join(root, 'node_modules/typescript/bin/tsc'), '-p', '.']),
    expectTrial: async (name) => {
      const { key } = await api.newAccount();
      const ids = [await api.add('Ada', 'sold', key), await api.add('Bob', 'sold', key)];
      const environment = { BASE: `${api.origin}/v1`, KEY: key };
      const printed = await run(['--import', './bundler.mjs', name], environment);
      expect(printed.replace(/(?<=\d)n\b/g, '').split('\n')).toEqual([
        '9007199254740993',
        `${String(ids[0])} Ada`,
        `${String(ids[1])} Bob`,
        expect.stringMatching(/^\d+ Rex$/),
        'invalid_cursor',
        '',
      ]);
    },
    close: async () => {
      await rm(folder, { recursive: true, force: true });
      await api.close();
    },
  };
};
