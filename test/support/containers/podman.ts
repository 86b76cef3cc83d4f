import { chmod, mkdir, symlink, writeFile, mkdtemp, cp } from 'node:fs/promises';
import { join } from 'node:path';
import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { promisify } from 'node:util';
import { libraryEnvironment, guardBy, unpack } from '../servers/debian-server.ts';

/**
 * Configures an unpacked podman to keep everything in one folder, with `bin/podman` as the program.
 * @param root where podman is unpacked
 */
const configurePodman = async (root: string, folder: string): Promise<void> => {
  const settings = join(folder, 'settings');
  await mkdir(join(settings, 'home/.config/containers'), { recursive: true });
  await mkdir(join(folder, 'bin'));
  const places = placesIn(root, folder);
  const files: Readonly<Record<string, string>> = {
    'home/.config/containers/policy.json': '{"default":[{"type":"insecureAcceptAnything"}]}',
    'registries.conf': 'unqualified-search-registries = []\n',
    'storage.conf': storage(folder),
    'containers.conf': containers(root, folder, places),
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(settings, name), text);
  // Podman's rules are in a separate network, so the kind of iptables does not matter.
  for (const name of ['iptables', 'iptables-save', 'iptables-restore']) {
    for (const one of [name, name.replace('ip', 'ip6')]) {
      await symlink(join(root, 'usr/sbin/xtables-legacy-multi'), join(folder, 'bin', one));
    }
  }
  await writeFile(join(folder, 'bin/podman'), wrapper(root, folder, places));
  await chmod(join(folder, 'bin/podman'), 0o755);
  await writeFile(join(folder, 'bin/podman-compose'), compose(root), { mode: 0o755 });
  await symlink('podman', join(folder, 'bin/docker'));
};

const placesIn = (root: string, folder: string): Readonly<Record<string, string>> => ({
  ...libraryEnvironment(root),
  PATH: [
    join(folder, 'bin'),
    join(root, 'usr/bin'),
    join(root, 'usr/sbin'),
    process.env['PATH'],
  ].join(':'),
  XTABLES_LIBDIR: join(root, 'usr/lib/x86_64-linux-gnu/xtables'),
  HOME: join(folder, 'settings/home'),
  CONTAINERS_CONF: join(folder, 'settings/containers.conf'),
  CONTAINERS_STORAGE_CONF: join(folder, 'settings/storage.conf'),
  CONTAINERS_REGISTRIES_CONF: join(folder, 'settings/registries.conf'),
  BUILDAH_RUNTIME: join(root, 'usr/sbin/runc'),
  TMPDIR: folder,
});

const storage = (folder: string): string => `[storage]
driver = "overlay"
graphroot = "${folder}/images"
runroot = "${folder}/run"
`;

/** Limits of a container. Raising a limit needs a right that root may lack. */
const ulimits = '["nofile=4096:4096", "nproc=4096:4096"]';

const containers = (
  root: string,
  folder: string,
  places: Readonly<Record<string, string>>,
): string => `[containers]
default_ulimits = ${ulimits}
log_driver = "k8s-file"
[network]
network_backend = "netavark"
network_config_dir = "${folder}/networks"
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
lock_type = "file"
runtime = "runc"
tmp_dir = "${folder}/tmp"
conmon_path = ["${root}/usr/bin/conmon"]
conmon_env_vars = ${JSON.stringify(Object.entries(places).map((pair) => pair.join('=')))}
helper_binaries_dir = ["${root}/usr/lib/podman"]
[engine.runtimes]
runc = ["${root}/usr/sbin/runc"]
`;

/** Containers use the folder's network, and image builds use this process's network. */
const wrapper = (
  root: string,
  folder: string,
  places: Readonly<Record<string, string>>,
): string => `#!/bin/sh
${Object.entries(places)
  .map(([name, value]) => `export ${name}='${value}'`)
  .join('\n')}
network=${folder}/network
if [ "$1" = build ]; then shift; network=/proc/${process.pid}/ns/net; set -- build --network host "$@"; fi
exec nsenter --net=$network ${root}/usr/bin/podman "$@"
`;

const compose = (root: string): string => `#!/bin/sh
export PYTHONPATH=${root}/usr/lib/python3/dist-packages
exec python3 -m podman_compose "$@"
`;

const execute = promisify(execFile);

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

/** Podman with separate images, containers and network, so containers may publish any port, even 80 and 443. */
export interface Podman {
  readonly folder: string;
  podman(...args: readonly string[]): Promise<string>;
  /** Runs a shell on the containers' machine, which knows `podman`, and `docker` as an alias. */
  readonly shell: (script: string, cwd: string, env?: NodeJS.ProcessEnv) => Promise<Printed>;
  remove(): Promise<void>;
}

/** After a container has ended, podman may still write there, even below the mount. */
const cleanUp = `
"$1/bin/podman" rm --all --force --time 0 >/dev/null 2>&1
umount "$1/network"; umount -l "$1"; rm -rf "$1" 2>/dev/null; true`;

/** @throws Error if this user may not mount anything */
export const startPodman = async (): Promise<Podman> => {
  const root = await unpack('podman', packages);
  const folder = await mkdtemp(join(tmpdir(), 'podman-'));
  // In memory, because an overlay can always be mounted there and one unmount removes everything.
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

const root = join(import.meta.dirname, '../../..');

const paths = [
  ...['.dockerignore', 'CHANGELOG.md', 'CONTRIBUTING.md', 'LICENSE', 'Makefile', 'README.md'],
  ...[
    'SECURITY.md',
    'animal-store',
    'bin',
    'db',
    'docs',
    'ops',
    'package-lock.json',
    'package.json',
  ],
  ...['src', 'tsconfig.json', 'tsconfig.package.json'],
];

/** A copy, because other tests create the same files in the checkout. */
export const copyCheckout = async (folder: string): Promise<void> => {
  for (const path of paths) {
    await cp(join(root, path), join(folder, path), { recursive: true, preserveTimestamps: true });
  }
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
};

export const challengeZone = 'acme.shop.example';

/** A command that prints the name server that port 53 of this machine returns for the zone, if it answers. */
export const askNameServer = (node: string): string => {
  const ask = `const { Resolver } = require('node:dns/promises');
const resolver = new Resolver({ timeout: 2000, tries: 2 });
resolver.setServers(['127.0.0.1']);
resolver.resolveSoa('${challengeZone}').then(({ nsname }) => console.log(nsname));`;
  return `${node} --eval "${ask}"`;
};

export const nameServer = 'acme-ns.shop.example\n';
