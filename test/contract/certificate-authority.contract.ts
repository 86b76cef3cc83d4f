import { createPrivateKey, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer } from 'node:tls';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Clock } from '../../src/kernel/clock.ts';
import type { Certificate } from '../../src/sites/domain/certificate.ts';
import type { CertificateAuthority } from '../../src/sites/ports.ts';

export interface OpenAuthority {
  readonly authority: CertificateAuthority;
  /** The real time, more or less: TLS clients go by that. */
  readonly clock: Clock;
  /** What clients trust, in PEM, once something was issued. */
  root(): Promise<string>;
  close(): Promise<void>;
}

/** The leaf first. */
export const certificatesOf = (chain: string): readonly X509Certificate[] =>
  (chain.match(/-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/gs) ?? []).map(
    (pem) => new X509Certificate(pem),
  );

export const leafOf = ({ chain }: Pick<Certificate, 'chain'>): X509Certificate => {
  const [leaf] = certificatesOf(chain);
  if (!leaf) throw new Error(`no certificate in:\n${chain}`);
  return leaf;
};

/** @returns what a client that trusts `root` learns @throws Error of its handshake */
export const visit = async (
  { chain, privateKey }: Certificate,
  root: string,
  host: string,
): Promise<string> => {
  const server = createServer({ cert: chain, key: privateKey }, (socket) => socket.end('hello'));
  // The client tells what went wrong.
  server.on('tlsClientError', () => undefined);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const socket = connect({ port, host: '127.0.0.1', servername: host, ca: root });
  try {
    const heard = await socket.setEncoding('utf8').toArray();
    return heard.join('');
  } finally {
    socket.destroy();
    server.close();
  }
};

export const certificateAuthorityContract = (open: () => Promise<OpenAuthority>): void => {
  let opened: OpenAuthority;
  let issued: Certificate;
  beforeAll(async () => {
    opened = await open();
    issued = await opened.authority.issue('rex.pets.test');
  }, 60_000);
  afterAll(() => opened.close());

  test('a certificate names its one host and nothing else', () => {
    expect(issued.host).toBe('rex.pets.test');
    expect(leafOf(issued).subjectAltName).toBe('DNS:rex.pets.test');
    const subject = Object.values(leafOf(issued).toLegacyObject().subject);
    expect([[], ['rex.pets.test']]).toContainEqual(subject);
  });

  test('a certificate identifies servers and signs nothing', () => {
    const leaf = leafOf(issued);
    // RFC 5280, section 4.2.1.12: server authentication
    expect(leaf.keyUsage).toContain('1.3.6.1.5.5.7.3.1');
    expect(leaf.ca).toBe(false);
  });

  test('the private key belongs to the certificate: ECDSA P-256 in PKCS #8', () => {
    expect(issued.privateKey).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
    const key = createPrivateKey(issued.privateKey);
    expect(key.asymmetricKeyDetails).toMatchObject({ namedCurve: 'prime256v1' });
    expect(leafOf(issued).checkPrivateKey(key)).toBe(true);
  });

  test('every certificate of the chain is signed by the next one, the last by the root', async () => {
    const root = new X509Certificate(await opened.root());
    const chain = [...certificatesOf(issued.chain), root];
    const isSigned = chain.map((one, at) => {
      const issuer = chain[at + 1] ?? root;
      return one.checkIssued(issuer) && one.verify(issuer.publicKey);
    });
    expect(isSigned).toEqual(chain.map(() => true));
    expect(root.ca).toBe(true);
  });

  test('the dates are those in the certificate and include the present', () => {
    const { validFromDate, validToDate } = leafOf(issued);
    expect(issued.notBefore).toEqual(validFromDate);
    expect(issued.notAfter).toEqual(validToDate);
    const now = opened.clock.now();
    expect(issued.notBefore.getTime()).toBeLessThanOrEqual(now.getTime());
    expect(issued.notAfter.getTime()).toBeGreaterThan(now.getTime());
  });

  test('a client that trusts the root reaches the host, and no other one', async () => {
    const root = await opened.root();
    expect(await visit(issued, root, 'rex.pets.test')).toBe('hello');
    const elsewhere = visit(issued, root, 'tom.pets.test');
    await expect(elsewhere).rejects.toHaveProperty('code', 'ERR_TLS_CERT_ALTNAME_INVALID');
  });

  test('every certificate has a key and a serial number of its own', async () => {
    const hosts = ['rex.pets.test', 'tom.pets.test', 'kitty.pets.test'];
    const all = await Promise.all(hosts.map((host) => opened.authority.issue(host)));
    expect(all.map(({ host }) => host)).toEqual(hosts);
    const leaves = [issued, ...all].map(leafOf);
    expect(new Set([issued, ...all].map(({ privateKey }) => privateKey)).size).toBe(4);
    expect(new Set(leaves.map(({ serialNumber }) => serialNumber)).size).toBe(4);
    // 64 bits of chance at least: CA/Browser Forum Baseline Requirements, section 7.1.2.7
    for (const { serialNumber } of leaves) expect(serialNumber.length).toBeGreaterThanOrEqual(16);
  }, 60_000);
};
