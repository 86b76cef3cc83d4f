import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findServer, libraryEnvironment } from './debian-server.ts';

const packages = ['ldnsutils', 'libldns3|libldns3t64', 'libpcap0.8|libpcap0.8t64'];

export interface SignedZone {
  readonly name: string;
  readonly file: string;
  /** Its public key, which resolvers trust. */
  readonly key: string;
}

/** `expired`: as when a provider stops signing again, the most common way in which DNSSEC breaks. */
export type Signatures = 'valid' | 'expired';

const periods: Readonly<Record<Signatures, readonly [from: string, to: string]>> = {
  valid: ['20200101000000', '20370101000000'],
  expired: ['20200101000000', '20200201000000'],
};

/** Signs a zone with NLnet Labs' own tools. @param records one on each line, relative to the zone */
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

/** @returns its file */
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
