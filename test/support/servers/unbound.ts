import { execFile, spawn } from 'node:child_process';
import { writeFile, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Resolver } from 'node:dns/promises';
import { tmpdir } from 'node:os';
import { findServer, libraryEnvironment, findFreePort, startGuard } from './debian-server.ts';
import { ended } from './server-process.ts';
import { until } from '../until.ts';

const packages = ['ldnsutils', 'libldns3|libldns3t64', 'libpcap0.8|libpcap0.8t64'];

interface SignedZone {
  readonly name: string;
  readonly file: string;
  readonly key: string;
}

/** `expired`: the provider stopped renewing signatures, the most common DNSSEC fault. */
export type Signatures = 'valid' | 'expired';

const periods: Readonly<Record<Signatures, readonly [from: string, to: string]>> = {
  valid: ['20200101000000', '20370101000000'],
  expired: ['20200101000000', '20200201000000'],
};

/** Signs a zone with NLnet Labs' own tools. @param records one per line, relative to the zone */
export const signZone = async (
  folder: string,
  zone: { readonly name: string; readonly records: readonly string[] },
  signatures: Signatures,
): Promise<SignedZone> => {
  const { executable, root } = await findServer('ldns-signzone', packages);
  const env = { ...process.env, ...libraryEnvironment(root) };
  const run = async (program: string, args: readonly string[]): Promise<string> => {
    const path = join(executable, '..', program);
    return (await promisify(execFile)(path, args, { env, cwd: folder })).stdout.trim();
  };
  const plain = await writeZone(folder, zone);
  const key = await run('ldns-keygen', ['-a', 'ECDSAP256SHA256', '-k', zone.name]);
  const [from, to] = periods[signatures];
  const file = `${plain}.${signatures}`;
  await run('ldns-signzone', ['-i', from, '-e', to, '-f', file, plain, key]);
  return { name: zone.name, file, key: join(folder, `${key}.key`) };
};

export const writeZone = async (
  folder: string,
  { name, records }: { readonly name: string; readonly records: readonly string[] },
): Promise<string> => {
  const file = join(folder, `${name}.zone`);
  const start = [
    `$ORIGIN ${name}.`,
    '$TTL 60',
    '@ IN SOA ns hostmaster 1 3600 600 86400 60',
    '@ IN NS ns',
    'ns IN A 127.0.0.1',
  ];
  await writeFile(file, [...start, ...records, ''].join('\n'));
  return file;
};

const libraries = [
  ...['unbound', 'libevent-2.1-7|libevent-2.1-7t64', 'libnghttp2-14', 'libprotobuf-c1'],
  'libpython3.11|libpython3.13',
];

export interface Unbound {
  readonly port: number;
  stop(): Promise<void>;
}

export interface UnboundZone {
  readonly name: string;
  /** Configuration lines that say where the zone's records come from. */
  readonly source: string;
}

/** A zone that one of our name servers serves. @param port where it listens */
export const servedZone = (name: string, port: number): UnboundZone => ({
  name,
  source: `stub-zone:\n  name: "${name}"\n  stub-addr: 127.0.0.1@${port}`,
});

export const zoneInFile = ({ name, file }: Pick<SignedZone, 'name' | 'file'>): UnboundZone => ({
  name,
  source: `auth-zone:\n  name: "${name}"\n  zonefile: "${file}"\n  for-upstream: yes\n  for-downstream: no\n  fallback-enabled: no`,
});

interface UnboundOptions {
  /** The server counts as started once it answers for the first zone. */
  readonly zones: readonly [UnboundZone, ...UnboundZone[]];
  /** Files with the keys of signed zones. Without them, nothing is validated. */
  readonly trusted?: readonly string[];
  readonly port?: number;
  readonly lines?: readonly string[];
}

export const startUnbound = async (options: UnboundOptions): Promise<Unbound> => {
  const { zones, trusted = [], lines = [] } = options;
  const { executable, root } = await findServer('unbound', libraries);
  const folder = await mkdtemp(join(tmpdir(), 'unbound-'));
  const guard = startGuard(folder);
  const port = options.port ?? (await findFreePort());
  const settings = join(folder, 'unbound.conf');
  await writeFile(settings, settingsFor({ zones, trusted, lines, port, folder }));
  const env = { ...process.env, ...libraryEnvironment(root) };
  const child = spawn(executable, ['-d', '-c', settings], { env, stdio: 'ignore' });
  guard.write(`${child.pid ?? ''}\n`);
  const resolver = new Resolver({ timeout: 500, tries: 1 });
  resolver.setServers([`127.0.0.1:${port}`]);
  const [{ name }] = zones;
  await until('unbound answers', () => resolver.resolveSoa(name).catch(() => false));
  return {
    port,
    stop: async () => {
      child.kill();
      await ended(child);
      guard.end('\n');
      await rm(folder, { recursive: true, force: true });
    },
  };
};

type Places = Required<UnboundOptions> & { readonly folder: string };

/** Like Let's Encrypt's resolver: randomises the case of letters and queries names label by label (RFC 9156). */
const settingsFor = ({ zones, trusted, lines, port, folder }: Places): string => `
server:
  interface: 127.0.0.1
  port: ${port}
  directory: "${folder}"
  pidfile: ""
  chroot: ""
  username: ""
  use-syslog: no
  do-daemonize: no
  module-config: "${trusted.length > 0 ? 'validator iterator' : 'iterator'}"
${trusted.map((file) => `  trust-anchor-file: "${file}"\n`).join('')}  ede: yes
  do-not-query-localhost: no
  qname-minimisation-strict: yes
  use-caps-for-id: yes
  harden-below-nxdomain: yes
  harden-referral-path: no
${lines.map((line) => `  ${line}\n`).join('')}remote-control:
  control-enable: no
${zones.map(({ source }) => source).join('\n')}
`;
