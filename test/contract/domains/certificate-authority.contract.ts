import { createPrivateKey, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer } from 'node:tls';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Clock } from '../../../src/kernel/ports.ts';
import type { CertificateOrder } from '../../../src/domains/domain/certificates/certificate-status.ts';
import type { Certificate } from '../../../src/domains/domain/certificates/renewal.ts';
import {
  advance,
  newHost,
  obtain,
  placed,
  takeTo,
  takeToCertificate,
  type AnsweredAuthority,
} from './certificate-authority-steps.ts';

export interface OpenAuthority extends AnsweredAuthority {
  /** Approximately the real time, which TLS clients use. */
  readonly clock: Clock;
  /** The root that clients trust, in PEM, after the first issuance. */
  root(): Promise<string>;
  close(): Promise<void>;
}

/** The leaf first. */
const certificatesOf = (chain: string): readonly X509Certificate[] =>
  (chain.match(/-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/gs) ?? []).map(
    (pem) => new X509Certificate(pem),
  );

export const leafOf = ({ chain }: Pick<Certificate, 'chain'>): X509Certificate => {
  const [leaf] = certificatesOf(chain);
  if (!leaf) throw new Error(`no certificate in:\n${chain}`);
  return leaf;
};

/** @returns what a client that trusts `root` sees @throws Error of its handshake */
export const visit = async (
  { chain, privateKey }: Certificate,
  root: string,
  host: string,
): Promise<string> => {
  const server = createServer({ cert: chain, key: privateKey }, (socket) => socket.end('hello'));
  // The client reports what went wrong.
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

/** The contract of orders for any certificate authority. */
export const certificateOrdersContract = (
  open: () => Promise<AnsweredAuthority & { close(): Promise<void> }>,
): void => {
  let opened: AnsweredAuthority & { close(): Promise<void> };
  beforeAll(async () => {
    opened = await open();
  });
  afterAll(() => opened.close());

  const steps = (order: CertificateOrder, challengeUrl: string) => [
    () => opened.authority.look(order),
    () => opened.authority.prove(order, challengeUrl),
    () => opened.authority.finalize(order),
  ];

  test('an order leads to a certificate for its host and its key', async () => {
    const order = await placed(opened.authority);
    const certificate = await takeToCertificate(opened, order);
    expect(certificate).toMatchObject({ host: order.host, privateKey: order.privateKey });
    expect(certificate.notAfter.getTime()).toBeGreaterThan(certificate.notBefore.getTime());
  });

  test('every step can be repeated, immediately and after the order has ended', async () => {
    const order = await placed(opened.authority);
    const first = await opened.authority.look(order);
    const challengeUrl = first.kind === 'challenge' ? first.challengeUrl : '';
    for (let state = first; state.kind !== 'issued';) {
      const before = await takeTo(opened, order, state.kind);
      const once = await advance(opened, order, before);
      await advance(opened, order, before);
      expect(once.kind).not.toBe('failed');
      state = await opened.authority.look(order);
      expect(state.kind).not.toBe('failed');
    }
    for (const step of steps(order, challengeUrl)) {
      const { host, privateKey } = order;
      expect(await step()).toMatchObject({ kind: 'issued', certificate: { host, privateKey } });
    }
  });

  test('reporting an unknown challenge as ready changes nothing', async () => {
    const order = await placed(opened.authority);
    const before = await opened.authority.look(order);
    for (const challengeUrl of ['', 'nonsense', 'https://elsewhere.test/challenge/1']) {
      await opened.authority.prove(order, challengeUrl);
    }
    expect((await opened.authority.look(order)).kind).toBe(before.kind);
  });

  test.each(['', 'nonsense', 'https://elsewhere.test/order/1'])(
    'an unknown order is reported as gone: "%s"',
    async (url) => {
      const privateKey = await opened.authority.newPrivateKey();
      const order = { host: newHost(), url, privateKey, method: 'http-01' } as const;
      for (const step of steps(order, 'https://elsewhere.test/challenge/1')) {
        const failure = { reason: 'order_gone', retryAt: undefined };
        expect(await step()).toMatchObject({ kind: 'failed', failure });
      }
    },
  );

  test('concurrent orders each get their own certificate and key', async () => {
    const issued = await Promise.all([1, 2, 3].map(() => obtain(opened)));
    expect(new Set(issued.map(({ host }) => host)).size).toBe(3);
    expect(new Set(issued.map(({ privateKey }) => privateKey)).size).toBe(3);
    expect(new Set(issued.map(({ chain }) => chain)).size).toBe(3);
  });

  test('there is no renewal window for text that is not a certificate', async () => {
    expect(await opened.authority.renewalWindow('nonsense')).toBeUndefined();
  });
};

/** The additional contract of authorities that issue real certificates: what clients see. */
export const certificateAuthorityContract = (open: () => Promise<OpenAuthority>): void => {
  let opened: OpenAuthority;
  let issued: Certificate;
  const host = 'rex.customer.test';
  beforeAll(async () => {
    opened = await open();
    issued = await obtain(opened, host);
  });

  certificateOrdersContract(() => Promise.resolve(opened));

  test('a certificate names only its host', () => {
    expect(issued.host).toBe(host);
    expect(leafOf(issued).subjectAltName).toBe(`DNS:${host}`);
    const subject = Object.values(leafOf(issued).toLegacyObject().subject);
    expect([[], [host]]).toContainEqual(subject);
  });

  test('a certificate can identify servers and cannot sign certificates', () => {
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

  test('every certificate of the chain is signed by the next one, and the last one by the root', async () => {
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

  test('a client that trusts the root can connect to the host, but to no other host', async () => {
    const root = await opened.root();
    expect(await visit(issued, root, host)).toBe('hello');
    const elsewhere = visit(issued, root, 'tom.customer.test');
    await expect(elsewhere).rejects.toHaveProperty('code', 'ERR_TLS_CERT_ALTNAME_INVALID');
  });

  test('every certificate has a different serial number', async () => {
    const all = [issued, await obtain(opened), await obtain(opened)];
    const numbers = all.map((one) => leafOf(one).serialNumber);
    expect(new Set(numbers).size).toBe(3);
    // At least 64 random bits, of which the first may be zeros: CA/Browser Forum Baseline
    // Requirements, section 7.1.2.7
    for (const number of numbers) expect(number.length).toBeGreaterThanOrEqual(10);
  });

  test('an order with an invalid key fails', async () => {
    const order = { ...(await placed(opened.authority)), privateKey: 'nonsense' };
    expect((await takeTo(opened, order, 'issued')).kind).toBe('failed');
  });
};
