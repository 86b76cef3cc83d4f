import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { unpack } from '../servers/debian-server.ts';
import { fillWithNode, importImage, npmSettings, fillWithMysqlClients } from './images.ts';
import type { Podman, Printed } from './podman.ts';

const packages = [
  ...[
    'systemd',
    'base-files',
    'base-passwd',
    'bash',
    'coreutils',
    'curl',
    'dash',
    'grep',
    'login',
    'mount',
  ],
  ...[
    'openssl',
    'passwd',
    'procps',
    'sed',
    'util-linux',
    'libc6',
    'libgcc-s1',
    'libstdc++6',
    'libtinfo6',
  ],
  ...['libacl1', 'libapparmor1', 'libargon2-1', 'libattr1', 'libaudit1', 'libblkid1', 'libbrotli1'],
  ...[
    'libbz2-1.0',
    'libcap-ng0',
    'libcap2',
    'libcom-err2',
    'libcrypt1',
    'libcryptsetup12',
    'libcurl4',
  ],
  ...['libdevmapper1.02.1', 'libfdisk1', 'libffi8', 'libgcrypt20', 'libgmp10', 'libgnutls30'],
  ...['libgpg-error0', 'libgssapi-krb5-2', 'libhogweed6', 'libidn2-0', 'libip4tc2', 'libjson-c5'],
  ...['libk5crypto3', 'libkeyutils1', 'libkmod2', 'libkrb5-3', 'libkrb5support0', 'libldap-2.5-0'],
  ...[
    'liblz4-1',
    'liblzma5',
    'libmd0',
    'libmount1',
    'libncursesw6',
    'libnettle8',
    'libnghttp2-14',
    'libp11-kit0',
  ],
  ...[
    'libpam-modules',
    'libpam0g',
    'libpcre2-8-0',
    'libproc2-0',
    'libpsl5',
    'librtmp1',
    'libsasl2-2',
  ],
  ...[
    'libseccomp2',
    'libselinux1',
    'libsemanage2',
    'libsepol2',
    'libsmartcols1',
    'libssh2-1',
    'libssl3',
  ],
  ...['libsystemd-shared', 'libsystemd0', 'libtasn1-6', 'libudev1', 'libunistring2', 'libuuid1'],
  ...['libzstd1', 'zlib1g', 'dbus', 'dbus-bin', 'dbus-daemon', 'dbus-system-bus-common'],
  ...['libdbus-1-3', 'libexpat1'],
];

export const debianMachineRoot = (): Promise<string> => unpack('systemd-run', packages);

const name = 'debian-machine';

export interface DebianMachine {
  readonly bash: (script: string) => Promise<Printed>;
}

/**
 * A machine that systemd has started, as a container.
 * @param prepared a file in root's folder, and a script that ran there before the start, with access to the npm
 * registry
 */
export const startDebianMachine = async (
  podman: Podman,
  prepared: { readonly file: string; readonly script: string },
): Promise<DebianMachine> => {
  await makeImage(podman, prepared);
  const rights = ['--privileged', '--systemd', 'always', '--network', 'host'];
  await podman.podman('run', '--detach', '--name', name, ...rights, name, '/lib/systemd/systemd');
  return {
    bash: (script) =>
      podman.shell(`podman exec --workdir /root ${name} bash -euo pipefail -c "$SCRIPT"`, '/', {
        SCRIPT: script,
      }),
  };
};

const makeImage = async (
  podman: Podman,
  { file, script }: { readonly file: string; readonly script: string },
): Promise<void> => {
  const folder = join(podman.folder, name);
  await fillWithNode(join(folder, 'usr/local'));
  await fillWithMysqlClients(join(folder, 'usr/local'));
  await importImage(podman, 'with-node', {
    content: `--directory ${await debianMachineRoot()} . --directory ${folder} ./usr/local`,
    changes: (await npmSettings()).map((one) => `ENV=${one}`),
  });
  const context = join(folder, 'context');
  await mkdir(context);
  await copyFile(file, join(context, basename(file)));
  await writeFile(join(context, 'prepare'), script);
  await writeFile(join(context, 'Containerfile'), containerfile);
  await podman.podman('build', '--layers=false', '--tag', name, context);
  await rm(folder, { recursive: true });
};

const containerfile = `FROM with-node
RUN cd /usr/share/base-passwd && cp passwd.master /etc/passwd && cp group.master /etc/group
# What installing dbus does; and the network is there already.
RUN useradd --system messagebus && systemctl mask systemd-networkd-wait-online
WORKDIR /root
ENV HOME=/root
COPY . /root
RUN bash -euo pipefail prepare
`;
