import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findServer, libraryEnvironment } from './debian-server.ts';
import { neverMs } from '../until.ts';

const libraries = [
  ...['bind9-dnsutils', 'bind9-libs', 'libcom-err2', 'libfstrm0', 'libgssapi-krb5-2'],
  ...[
    'libicu72|libicu76',
    'libidn2-0',
    'libjemalloc2',
    'libjson-c5',
    'libk5crypto3',
    'libkeyutils1',
  ],
  ...[
    'libkrb5-3',
    'libkrb5support0',
    'liblmdb0',
    'libmaxminddb0',
    'libnghttp2-14',
    'libprotobuf-c1',
  ],
  ...['libunistring2|libunistring5', 'libuv1|libuv1t64', 'libxml2'],
];

export interface DnsClients {
  /** BIND's `dig`, as operators use it. @returns what it prints */
  dig(...args: readonly string[]): Promise<string>;
  /** BIND's `delv`, which resolves as a validating resolver does. */
  delv(...args: readonly string[]): Promise<string>;
}

/** They ask the server on that port. */
export const dnsClients = async (port: number): Promise<DnsClients> => {
  const { executable, root } = await findServer('dig', libraries);
  const env = { ...process.env, ...libraryEnvironment(root) };
  const run = async (name: string, args: readonly string[]): Promise<string> => {
    const program = join(executable, '..', name);
    const all = ['@127.0.0.1', '-p', String(port), ...args];
    const { stdout, stderr } = await promisify(execFile)(program, all, { env, timeout: neverMs });
    return stdout + stderr;
  };
  return { dig: (...args) => run('dig', args), delv: (...args) => run('delv', args) };
};
