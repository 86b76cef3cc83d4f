import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { libraryEnvironment } from '../servers/debian-server.ts';

/**
 * Writes what an unpacked podman needs to keep everything in one folder, with itself as `bin/podman`.
 * @param root where podman is unpacked
 */
export const configurePodman = async (root: string, folder: string): Promise<void> => {
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
  // Its rules are in a network of their own, so which of the two kinds they are does not matter.
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

/** What a container may open: raising a limit takes a right that not every root has. */
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

/** Containers are in the network of the folder, and what builds an image in that of this process. */
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
