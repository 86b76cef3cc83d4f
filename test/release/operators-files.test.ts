import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { loadConfig } from '../../src/app/settings/config.ts';
import { debianMachineRoot } from '../support/containers/debian-machine.ts';
import { documentedCommands } from '../support/documented-commands.ts';
import { libraryEnvironment } from '../support/servers/debian-server.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const roles = ['api', 'dashboard', 'worker', 'edge', 'dns'];

let folder: string;
let debian: string;
beforeAll(async () => {
  debian = await debianMachineRoot();
  folder = await mkdtemp(join(tmpdir(), 'animal-store-units-'));
  const parts = [
    [join(debian, 'lib/systemd/system'), 'lib/systemd/system'],
    [join(debian, 'bin/kill'), 'bin/kill'],
    [join(root, 'ops/systemd'), 'etc/systemd/system'],
    [join(root, 'bin/animal-store.cjs'), 'opt/animal-store/bin/animal-store'],
  ] as const;
  await mkdir(join(folder, 'etc/systemd'), { recursive: true });
  const options = { recursive: true, verbatimSymlinks: true };
  for (const [from, to] of parts) await cp(from, join(folder, to), options);
});
afterAll(() => rm(folder, { recursive: true }));

const analyze = (...args: readonly string[]) => {
  const own = libraryEnvironment(debian)['LD_LIBRARY_PATH'] ?? '';
  const shared = join(debian, 'usr/lib/x86_64-linux-gnu/systemd');
  const env = { ...process.env, LD_LIBRARY_PATH: `${shared}:${own}` };
  const all = [...args.slice(0, 1), `--root=${folder}`, '--no-pager', ...args.slice(1)];
  return promisify(execFile)(join(debian, 'usr/bin/systemd-analyze'), all, { env });
};

test.each(roles)(
  'systemd accepts the unit of %s without warnings, and rates it as well sandboxed',
  async (role) => {
    const unit = `animal-store@${role}.service`;
    const verified = await analyze('verify', '--man=no', '--recursive-errors=one', unit);
    expect(verified).toEqual({ stdout: '', stderr: '' });
    // In tenths: 100 means no confinement. Nearly every sandboxing line of the unit lowers it.
    const threshold = ['edge', 'dns'].includes(role) ? 16 : 14;
    await analyze('security', '--offline=true', `--threshold=${String(threshold)}`, unit);
  },
);

test('systemd accepts the units that back up without warnings, and rates them as well sandboxed', async () => {
  const [timer, service] = ['animal-store-backup.timer', 'animal-store-backup.service'];
  const verified = await analyze('verify', '--man=no', '--recursive-errors=one', timer, service);
  expect(verified).toEqual({ stdout: '', stderr: '' });
  await analyze('security', '--offline=true', '--threshold=14', service);
});

/** NAME=value, one per line. */
const settingsIn = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...text.matchAll(/\b([A-Z_]+)=(\S+)/g)].map(([, name = '', value = '']) => [name, value]),
  );

const [, , , written = ''] = documentedCommands(
  'docs/containers-and-systemd.md',
  '## In containers',
);

test.each(roles)(
  'the program accepts the settings that compose.yaml and its documentation give to %s',
  (role) => {
    const file = role === 'dns' ? 'ops/compose.dns.yaml' : 'ops/compose.yaml';
    const { services } = parse(read(file), { merge: true }) as {
      readonly services: Readonly<
        Record<string, { readonly environment: Readonly<Record<string, unknown>> }>
      >;
    };
    const given = Object.entries(services[role]?.environment ?? {}).map(
      ([name, value]): readonly [string, string] => [
        name,
        String(value)
          .replace('${ACME_DNS_ZONE:?is missing in ops/.env}', 'acme.shop.example')
          .replace(/\$\{\w+:\?[^}]*\}/, 'secret'),
      ],
    );
    const image = settingsIn(/^ENV .*$/m.exec(read('ops/Containerfile'))?.[0] ?? '');
    const key = { SECRET_KEY: '6d2f0c9be1874a53f6b8d2174ec09a35' };
    const settings: Readonly<Record<string, string>> = {
      ...image,
      ...settingsIn(written),
      ...key,
      ...Object.fromEntries<string>(given),
    };
    expect(loadConfig(settings)).toMatchObject({
      production: true,
      roles: [role],
      host: '0.0.0.0',
    });
  },
);

test('every file that ops/Containerfile copies exists, and .dockerignore does not exclude it', () => {
  const allowed = read('.dockerignore')
    .split('\n')
    .filter((line) => line.startsWith('!'));
  const copies = [...read('ops/Containerfile').matchAll(/^COPY (?!--from)(.*) \S+$/gm)];
  const sources = copies.flatMap(([, paths = '']) => paths.split(' '));
  expect(sources.length).toBeGreaterThan(5);
  expect(sources.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  expect(sources.filter((path) => !allowed.includes(`!${path}`))).toEqual([]);
});
