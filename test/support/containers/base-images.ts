import { execFile } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { copyFile, cp, mkdir, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { unpack } from '../servers/debian-server.ts';
import { fillWithMysqlClients } from './mysql-clients.ts';
import type { Podman } from './podman.ts';

const print = async (command: string, ...args: readonly string[]): Promise<string> =>
  (await promisify(execFile)(command, args)).stdout.trim();

/** What Debian's small images and Node's have in common, as far as something here uses it. */
const packages = [
  ...['coreutils', 'dash', 'libc6', 'libgcc-s1', 'libstdc++6', 'libselinux1', 'libpcre2-8-0'],
  ...['libacl1', 'libattr1', 'libgmp10'],
];

/** Both by the names that ops/Containerfile has for them. */
export const baseImages = { NODE_IMAGE: 'localhost/node', BASE_IMAGE: 'localhost/debian' } as const;

/** What the root of both begins with. */
export const debianRoot = (): Promise<string> => unpack('env', packages);

/** Makes both images from Debian's packages, and from the Node and the npm that run here. */
export const makeBaseImages = async (podman: Podman): Promise<void> => {
  const content = `--directory ${await debianRoot()} .`;
  const base = join(podman.folder, 'base');
  await fillWithMysqlClients(join(base, 'usr/local'));
  const withClients = `${content} --directory ${base} ./usr/local`;
  await importImage(podman, baseImages.BASE_IMAGE, { content: withClients });
  await rm(base, { recursive: true });
  const node = join(podman.folder, 'node');
  await fillWithNode(join(node, 'usr/local'));
  await importImage(podman, baseImages.NODE_IMAGE, {
    content: `${content} --directory ${node} ./usr/local`,
    changes: (await npmSettings()).map((one) => `ENV=${one}`),
  });
  await rm(node, { recursive: true });
};

/** @param from arguments of tar that name the content, and instructions of a Containerfile */
export const importImage = async (
  { shell }: Podman,
  name: string,
  from: { readonly content: string; readonly changes?: readonly string[] },
): Promise<void> => {
  const changes = (from.changes ?? []).map((one) => `--change '${one}'`).join(' ');
  const script = `tar --create ${from.content} | podman import ${changes} - ${name}`;
  const { code, stderr } = await shell(script, '/');
  if (code !== 0) throw new Error(stderr);
};

export const fillWithNode = async (folder: string): Promise<void> => {
  const modules = join(folder, 'lib/node_modules');
  await mkdir(modules, { recursive: true });
  await mkdir(join(folder, 'bin'));
  await copyFile(realpathSync(process.execPath), join(folder, 'bin/node'));
  const npm = realpathSync(await print('sh', '-c', 'command -v npm'));
  await cp(dirname(dirname(npm)), join(modules, 'npm'), {
    recursive: true,
    verbatimSymlinks: true,
  });
  await symlink('../lib/node_modules/npm/bin/npm-cli.js', join(folder, 'bin/npm'));
  if (authorities) await copyFile(authorities, join(folder, 'authorities.crt'));
};

/** Whom this machine trusts beside those that Node knows. */
const authorities = process.env['NODE_EXTRA_CA_CERTS'];

/** Its npm fetches from where the npm of this machine does. */
export const npmSettings = async (): Promise<readonly string[]> => [
  `npm_config_registry=${await print('npm', 'config', 'get', 'registry')}`,
  ...(authorities ? ['NODE_EXTRA_CA_CERTS=/usr/local/authorities.crt'] : []),
];
