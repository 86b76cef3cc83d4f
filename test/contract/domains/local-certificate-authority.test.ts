import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  LocalCertificateAuthority,
  LocalRootFile,
} from '../../../src/adapters/acme/local-certificate-authority.ts';
import { SettableClock } from '../../support/settable-clock.ts';
import { AesGcmSealer } from '../../../src/adapters/system/secrets.ts';
import { SystemClock } from '../../../src/adapters/system/system-ports.ts';
import { obtain, placed } from './certificate-authority-steps.ts';
import { certificateAuthorityContract, leafOf, visit } from './certificate-authority.contract.ts';

const source = resolve(import.meta.dirname, '../../../src');
const secretKey = new TextEncoder().encode('a secret key of 32 characters ..');
const otherKey = new TextEncoder().encode('another key of 32 characters ...');
const now = new Date('2026-03-01T12:00:00.750Z');
const dayMs = 86_400_000;

let folder: string;
let clock: SettableClock;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'animal-store-ca-'));
  clock = new SettableClock(now);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const open = (setup: { key?: Uint8Array; folder?: string } = {}) =>
  new LocalCertificateAuthority({
    folder,
    sealer: new AesGcmSealer(setup.key ?? secretKey),
    clock,
    ...setup,
  });
/** @throws Error with the reason of a failure */
const issue = (authority: LocalCertificateAuthority, host: string) => obtain({ authority }, host);
const path = (name: string) => join(folder, name);
const text = (name: string) => readFile(path(name), 'utf8');
const unavailable = { kind: 'failed', failure: { reason: 'unavailable' } };
const root = async () => new X509Certificate(await text('local-ca.pem'));

describe('the local certificate authority', () => {
  certificateAuthorityContract(async () => {
    const own = await mkdtemp(join(tmpdir(), 'animal-store-ca-'));
    const systemClock = new SystemClock();
    return {
      authority: new LocalCertificateAuthority({
        folder: own,
        sealer: new AesGcmSealer(secretKey),
        clock: systemClock,
      }),
      clock: systemClock,
      root: () => readFile(join(own, 'local-ca.pem'), 'utf8'),
      close: () => rm(own, { recursive: true }),
    };
  });
});

test('certificates are valid from an hour ago for 90 days, in whole seconds', async () => {
  const { notBefore, notAfter } = await issue(open(), 'rex.pets.test');
  expect(notBefore).toEqual(new Date('2026-03-01T11:00:00Z'));
  expect(notAfter).toEqual(new Date('2026-05-30T12:00:00Z'));
});

test('the root is valid for ten years and signs only host certificates', async () => {
  await issue(open(), 'rex.pets.test');
  const { ca, subject, issuer, validFromDate, validToDate } = await root();
  expect({ ca, issuer }).toEqual({ ca: true, issuer: subject });
  expect(subject).toMatch(/^CN=Animal Store local CA [0-9a-f]{8}$/);
  expect(validFromDate).toEqual(new Date('2026-03-01T11:00:00Z'));
  expect(validToDate).toEqual(new Date(now.getTime() - 750 + 3650 * dayMs));
});

test('two installations have roots with different names', async () => {
  await issue(open(), 'rex.pets.test');
  const first = await root();
  await issue(open({ folder: path('other') }), 'rex.pets.test');
  const second = new X509Certificate(await text('other/local-ca.pem'));
  expect(second.subject).not.toBe(first.subject);
});

test('no certificate outlives the root, and the error about an expired root says what to do', async () => {
  const authority = open();
  await issue(authority, 'rex.pets.test');
  const { validToDate } = await root();
  clock.set(new Date(validToDate.getTime() - dayMs));
  expect((await issue(authority, 'tom.pets.test')).notAfter).toEqual(validToDate);
  clock.set(validToDate);
  await expect(issue(authority, 'tom.pets.test')).rejects.toThrow(
    `${path('local-ca.key')} has expired: remove ${path('local-ca.key')} and ${path('local-ca.pem')}: ` +
      'a new root is created when one is next needed.',
  );
});

test.each([64, 65, 253])('a host of %i characters gets its certificate', async (length) => {
  const host = `${`${'a'.repeat(60)}.`.repeat(5).slice(0, length - 5)}.test`.replace('..', 'b.');
  expect(host).toHaveLength(length);
  clock.set(new SystemClock().now());
  const issued = await issue(open(), host);
  expect(leafOf(issued).subjectAltName).toBe(`DNS:${host}`);
  expect(await visit(issued, await text('local-ca.pem'), host)).toBe('hello');
});

test('a restart keeps the root', async () => {
  const before = await issue(open(), 'rex.pets.test');
  const kept = await text('local-ca.pem');
  const after = await issue(open(), 'rex.pets.test');
  expect(await text('local-ca.pem')).toBe(kept);
  const { publicKey } = await root();
  for (const issued of [before, after]) expect(leafOf(issued).verify(publicKey)).toBe(true);
});

test('twenty concurrent first requests share one root', async () => {
  const all = await Promise.all(
    Array.from({ length: 20 }, (_, n) => issue(open(), `rex-${String(n)}.pets.test`)),
  );
  const { publicKey } = await root();
  expect(all.map((issued) => leafOf(issued).verify(publicKey))).toEqual(Array(20).fill(true));
  expect((await readdir(folder)).toSorted()).toEqual(['local-ca.key', 'local-ca.pem']);
});

test('processes that start at once share one root', async () => {
  const program = `
    import { LocalCertificateAuthority } from '${source}/adapters/acme/local-certificate-authority.ts';
    import { AesGcmSealer } from '${source}/adapters/system/secrets.ts';
    import { SystemClock } from '${source}/adapters/system/system-ports.ts';
    const sealer = new AesGcmSealer(new TextEncoder().encode('${new TextDecoder().decode(secretKey)}'));
    const folder = '${folder}';
    const authority = new LocalCertificateAuthority({ folder, sealer, clock: new SystemClock() });
    const host = 'rex.pets.test';
    const [{ url }, privateKey] = [await authority.order(host), await authority.newPrivateKey()];
    process.stdout.write((await authority.look({ host, url, privateKey })).certificate.chain);`;
  const processes = [1, 2, 3].map(() =>
    promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program]),
  );
  const chains = (await Promise.all(processes)).map(({ stdout }) => stdout);
  const { publicKey } = await root();
  expect(chains.map((chain) => leafOf({ chain }).verify(publicKey))).toEqual([true, true, true]);
});

test('the private key of the root is readable by its owner only, and encrypted', async () => {
  await issue(open(), 'rex.pets.test');
  expect((await stat(path('local-ca.key'))).mode & 0o777).toBe(0o600);
  expect((await stat(path('local-ca.pem'))).mode & 0o111).toBe(0);
  const sealed = await text('local-ca.key');
  const decoded = Buffer.from(sealed.replace(/^v1\./, ''), 'base64url');
  for (const shown of [sealed, decoded.toString('latin1'), decoded.toString('utf16le')]) {
    expect(shown).not.toMatch(/PRIVATE|CERTIFICATE|privateKey/);
  }
  expect(await text('local-ca.pem')).not.toContain('PRIVATE');
});

test('leftover files of a killed process do no harm', async () => {
  await writeFile(path('local-ca.key.0123456789ab'), 'half a k');
  await writeFile(path('local-ca.pem.0123456789ab'), '-----BEGIN CERT');
  const issued = await issue(open(), 'rex.pets.test');
  expect(leafOf(issued).verify((await root()).publicKey)).toBe(true);
});

test.each(['a lost', 'a half-written', 'a foreign'])(
  '%s root certificate is written again from the encrypted copy',
  async (kind) => {
    await issue(open(), 'rex.pets.test');
    const kept = await text('local-ca.pem');
    await rm(path('local-ca.pem'));
    if (kind !== 'a lost') await writeFile(path('local-ca.pem'), kept.slice(0, 100));
    if (kind === 'a foreign') {
      await issue(open({ folder: path('other') }), 'rex.pets.test');
      await writeFile(path('local-ca.pem'), await text('other/local-ca.pem'));
    }
    await issue(open(), 'tom.pets.test');
    expect(await text('local-ca.pem')).toBe(kept);
  },
);

test('a different secret key is refused with advice, and the first one still works', async () => {
  await issue(open(), 'rex.pets.test');
  const [kept, sealed] = [await text('local-ca.pem'), await text('local-ca.key')];
  await expect(issue(open({ key: otherKey }), 'rex.pets.test')).rejects.toThrow(
    `${path('local-ca.key')} cannot be decrypted: SECRET_KEY is not the key that encrypted it. Restore ` +
      `SECRET_KEY, or remove ${path('local-ca.key')} and ${path('local-ca.pem')}: a new root is created when one is next needed.`,
  );
  expect([await text('local-ca.pem'), await text('local-ca.key')]).toEqual([kept, sealed]);
  expect(leafOf(await issue(open(), 'rex.pets.test')).verify((await root()).publicKey)).toBe(true);
});

test('the root is encrypted again once when the secret key is replaced, and stays the same root', async () => {
  const reseal = (...keys: ConstructorParameters<typeof AesGcmSealer>) =>
    new LocalRootFile(folder, new AesGcmSealer(...keys)).reseal();
  const rotated = () => reseal(otherKey, [secretKey]);
  expect(await rotated()).toEqual({ kind: 'nothing to do' });
  await issue(open(), 'rex.pets.test');
  const kept = await text('local-ca.pem');
  expect(await reseal(otherKey)).toMatchObject({
    kind: 'left',
    id: path('local-ca.key'),
    reason: expect.stringContaining('SECRET_KEY'),
  });
  expect(await rotated()).toEqual({ kind: 'resealed' });
  expect(await rotated()).toEqual({ kind: 'nothing to do' });
  expect((await stat(path('local-ca.key'))).mode & 0o777).toBe(0o600);
  await issue(open({ key: otherKey }), 'tom.pets.test');
  expect(await text('local-ca.pem')).toBe(kept);
});

test('without its two files, a new root is created, even under another secret key', async () => {
  await issue(open(), 'rex.pets.test');
  const { subject } = await root();
  await rm(path('local-ca.key'));
  await rm(path('local-ca.pem'));
  await issue(open({ key: otherKey }), 'rex.pets.test');
  expect((await root()).subject).not.toBe(subject);
});

test('an unusable folder makes the authority unavailable until the folder is fixed', async () => {
  await writeFile(path('var'), 'a file where the folder should be');
  const authority = open({ folder: path('var') });
  const order = await placed(authority, 'rex.pets.test');
  expect(await authority.look(order)).toMatchObject(unavailable);
  await rm(path('var'));
  expect(await authority.look(order)).toMatchObject({ kind: 'issued' });
});

test('a root certificate that cannot be written makes the authority unavailable', async () => {
  await mkdir(path('local-ca.pem'));
  const authority = open();
  const order = await placed(authority, 'rex.pets.test');
  expect(await authority.look(order)).toMatchObject(unavailable);
  expect(await readdir(folder)).toEqual(['local-ca.key', 'local-ca.pem']);
});
