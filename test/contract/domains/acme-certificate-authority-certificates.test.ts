import 'reflect-metadata';
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { afterEach, beforeAll, expect, test } from '@jest/globals';
import { SubjectAlternativeNameExtension, X509CertificateGenerator } from '@peculiar/x509';
import { SettableClock } from '../../support/settable-clock.ts';
import type { CertificateOrder } from '../../../src/domains/domain/certificates/certificate-status.ts';
import type { Certificate } from '../../../src/domains/domain/certificates/renewal.ts';
import { caPlaces } from '../../lab/authority/gate-caa.ts';
import { connectAuthority, keptAccounts } from '../../lab/authority/pebble-lab.ts';
import { obtain, placed, takeToCertificate, openPebbleLab } from './certificate-authority-steps.ts';
import { SystemClock } from '../../../src/adapters/system/system-ports.ts';

const lab = openPebbleLab({ certificateSeconds: 3600 });
let order: CertificateOrder;
let issued: Certificate;
const accounts = keptAccounts();
const clock = new SettableClock(new SystemClock().now());
beforeAll(async () => {
  const connected = connectAuthority(lab, {}, { accounts });
  order = await placed(connected.authority);
  issued = await takeToCertificate(connected, order);
  clock.set(issued.notBefore);
});
afterEach(() => {
  clock.set(issued.notBefore);
});

const connected = () => connectAuthority(lab, {}, { accounts, clock });

/** The facts that the adapter returns for this certificate. */
const given = (body: string) => {
  lab.gate.setFaults({ match: caPlaces.certificate, body });
  return connected().authority.look(order);
};

const wrong = (what: RegExp) => ({
  kind: 'failed',
  failure: { reason: 'unavailable', detail: expect.stringMatching(what), retryAt: undefined },
});

/** Self-signed with the order's key. */
const selfSigned = async (hosts: readonly string[], life: { notBefore: Date; notAfter: Date }) => {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };
  const key = createPrivateKey(order.privateKey);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    keys: {
      privateKey: key.toCryptoKey(algorithm, true, ['sign']),
      publicKey: createPublicKey(key).toCryptoKey(algorithm, true, ['verify']),
    },
    signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' },
    extensions: [
      new SubjectAlternativeNameExtension(hosts.map((value) => ({ type: 'dns', value }))),
    ],
    notBefore: new Date(life.notBefore),
    notAfter: new Date(life.notAfter),
  });
  return `${certificate.toString('pem')}\n`;
};

test('the right certificate is accepted, whatever text surrounds it', async () => {
  const { chain } = issued;
  expect(await given(chain)).toEqual({ kind: 'issued', certificate: issued });
  const untidy = `subject=/CN=x\n\n${chain.replaceAll('\n', '\r\n')}\r\n\r\n`;
  expect(await given(untidy)).toMatchObject({ kind: 'issued', certificate: { host: order.host } });
});

test('a certificate for another host is refused', async () => {
  const other = await obtain(connected());
  expect(await given(other.chain)).toMatchObject(wrong(/it is not for shop-\d+\.customer\.test/));
});

test('a certificate that also names another host is refused', async () => {
  const chain = await selfSigned([order.host, 'evil.customer.test'], issued);
  expect(await given(chain)).toMatchObject(wrong(/it is not for .* alone/));
});

test('a certificate for another key is refused', async () => {
  const other = await obtain(connected(), order.host);
  expect(await given(other.chain)).toMatchObject(wrong(/does not match our key/));
});

test('a chain whose certificates do not sign each other is refused', async () => {
  const [leaf = '', issuer = ''] = issued.chain.split(/(?<=-----END CERTIFICATE-----\n)/);
  expect(await given(leaf)).toMatchObject({ kind: 'issued', certificate: { chain: leaf } });
  expect(await given(leaf + lab.pebble.tls.cert)).toMatchObject(wrong(/chain/));
  expect(await given(leaf + leaf)).toMatchObject(wrong(/chain/));
  expect(await given(leaf + issuer + issuer)).toMatchObject(wrong(/chain/));
});

test('text that is not a certificate is refused', async () => {
  expect(await given('nonsense')).toMatchObject(wrong(/contains no certificate/));
  const text = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
  expect(await given(text)).toMatchObject(wrong(/cannot be read/));
});

test('a certificate that ends before it begins is refused', async () => {
  const life = { notBefore: issued.notAfter, notAfter: issued.notBefore };
  expect(await given(await selfSigned([order.host], life))).toMatchObject(wrong(/ends before/));
});

test('a certificate that is not valid yet is refused, with a tolerance for clock skew', async () => {
  const early = (seconds: number) => new Date(issued.notBefore.getTime() - seconds * 1000);
  clock.set(early(301));
  expect(await given(issued.chain)).toMatchObject(wrong(/is not valid before 2/));
  clock.set(early(300));
  expect(await given(issued.chain)).toMatchObject({ kind: 'issued' });
});

test('an expired certificate means that its order is over', async () => {
  clock.set(new Date(issued.notAfter.getTime() - 1));
  expect(await given(issued.chain)).toMatchObject({ kind: 'issued' });
  clock.set(issued.notAfter);
  expect(await given(issued.chain)).toMatchObject({ failure: { reason: 'order_gone' } });
});
