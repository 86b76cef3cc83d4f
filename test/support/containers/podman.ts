import { execFile } from 'node:child_process';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { guardBy, unpack } from '../servers/debian-server.ts';
import { configurePodman } from './podman-settings.ts';

const execute = promisify(execFile);

/** With all that Debian's podman needs beside it: a runtime, networks with names, and compose. */
const packages = [
  ...['podman', 'conmon', 'runc', 'libgpgme11', 'libassuan0', 'libsubid4', 'libdevmapper1.02.1'],
  ...['netavark', 'aardvark-dns', 'iptables', 'libip4tc2', 'libip6tc2', 'libxtables12', 'libmnl0'],
  ...['libnfnetlink0', 'libnetfilter-conntrack3', 'libnftnl11', 'busybox-static'],
  ...['podman-compose', 'python3-dotenv', 'python3-yaml'],
];

export interface Printed {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Podman with images, containers and a network of its own: they may publish any port, 80 and 443 too. */
export interface Podman {
  /** Is gone in the end. */
  readonly folder: string;
  /** @throws Error with what it printed if it fails */
  podman(...args: readonly string[]): Promise<string>;
  /** A shell on the machine of the containers, which knows `podman`, and `docker` as the same. */
  readonly shell: (script: string, cwd: string, env?: NodeJS.ProcessEnv) => Promise<Printed>;
  remove(): Promise<void>;
}

/** After a container has ended, podman may still write there, below the mount too. */
const cleanUp = `
"$1/bin/podman" rm --all --force --time 0 >/dev/null 2>&1
umount "$1/network"; umount -l "$1"; rm -rf "$1" 2>/dev/null; true`;

/** @throws Error where this user may not mount anything */
export const startPodman = async (): Promise<Podman> => {
  const root = await unpack('podman', packages);
  const folder = await mkdtemp(join(tmpdir(), 'podman-'));
  // In memory: an overlay can always be mounted there, and one unmount removes everything.
  await execute('mount', ['-t', 'tmpfs', '-o', 'mode=0755', 'podman', folder]);
  const guard = guardBy(`while read -r _; do :; done; ${cleanUp}`, folder);
  await configurePodman(root, folder);
  const network = join(folder, 'network');
  await writeFile(network, '');
  const upLink = [join(root, 'bin/busybox'), 'ip', 'link', 'set', 'lo', 'up'];
  await execute('unshare', [`--net=${network}`, ...upLink]);
  const env = { ...process.env, PATH: `${folder}/bin:${process.env['PATH'] ?? ''}` };
  const limits = { maxBuffer: 2 ** 26, timeout: 200_000 };
  return {
    folder,
    podman: async (...args) => {
      const { stdout } = await execute(join(folder, 'bin/podman'), args, { ...limits, env });
      return stdout.trim();
    },
    shell: (script, cwd, own = {}) => {
      const args = [`--net=${network}`, 'sh', '-euc', script];
      return execute('nsenter', args, { ...limits, cwd, env: { ...env, ...own } }).then(
        (printed) => ({ code: 0, ...printed }),
        (error: unknown) => error as Printed,
      );
    },
    remove: async () => {
      await execute('sh', ['-c', cleanUp, 'clean-up', folder]);
      guard.end();
    },
  };
};
