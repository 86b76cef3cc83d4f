import { X509Certificate } from 'node:crypto';
import { afterEach, describe, expect, test } from '@jest/globals';
import { SystemClock } from '../../../src/adapters/system/system-ports.ts';
import { caPlaces } from '../../lab/authority/gate-caa.ts';
import { connectAuthority, startPebbleLab } from '../../lab/authority/pebble-lab.ts';
import { storesOfTests } from '../../support/stores-of-tests.ts';
import {
  challengeUrlOf,
  newHost,
  obtain,
  placed,
  takeTo,
  takeToCertificate,
  type AnsweredAuthority,
  openPebbleLab,
} from './certificate-authority-steps.ts';
import { certificateAuthorityContract } from './certificate-authority.contract.ts';

const { newAccount, newOrder, challenge, finalize, certificate } = caPlaces;

describe('an authority that speaks ACME', () => {
  certificateAuthorityContract(async () => {
    const lab = await startPebbleLab();
    return {
      ...connectAuthority(lab),
      clock: new SystemClock(),
      root: () => lab.pebble.root(),
      close: () => lab.close(),
    };
  });
});

const open = storesOfTests();
const lab = openPebbleLab();

test('a certificate takes one order, one challenge, one certificate request and one download', async () => {
  await obtain(connectAuthority(lab));
  for (const place of [newAccount, newOrder, challenge, finalize, certificate]) {
    expect(lab.gate.asked(place)).toHaveLength(1);
  }
});

test('an order names one host, without dates and without the certificate that it replaces', async () => {
  const { authority } = connectAuthority(lab);
  const { host } = await placed(authority);
  const payloads = lab.gate.asked(newOrder).map(({ payload }) => payload);
  expect(payloads).toEqual([{ identifiers: [{ type: 'dns', value: host }] }]);
});

test('every request has a User-Agent', async () => {
  await obtain(connectAuthority(lab));
  expect(new Set(lab.gate.log.map(({ userAgent }) => userAgent))).toEqual(
    new Set(['animal-store']),
  );
});

test('the account is created on first use, and stored with its key', async () => {
  const { authorityAccounts: accounts } = await open();
  const { authority } = connectAuthority(lab, { email: 'ops@pets.test' }, { accounts });
  expect(await authority.accountUri()).toBeUndefined();
  await placed(authority);
  const kept = await accounts.find(lab.gate.directoryUrl);
  expect(kept?.privateKey).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
  expect(await authority.accountUri()).toBe(kept?.url);
  expect(lab.gate.asked(newAccount).map(({ payload }) => payload)).toEqual([
    { termsOfServiceAgreed: true, contact: ['mailto:ops@pets.test'] },
  ]);
});

test('orders that begin at the same time share one account, and so do later processes', async () => {
  const { authorityAccounts: accounts } = await open();
  const { authority } = connectAuthority(lab, {}, { accounts });
  await Promise.all([1, 2, 3].map(() => placed(authority)));
  const later = connectAuthority(lab, {}, { accounts });
  await placed(later.authority);
  expect(lab.gate.asked(newAccount)).toHaveLength(1);
  expect(await later.authority.accountUri()).toBe(await authority.accountUri());
});

test('two processes that create an account at once both use the one that was stored first', async () => {
  const { authorityAccounts: accounts } = await open();
  const processes = [1, 2].map(() => connectAuthority(lab, {}, { accounts }));
  const orders = await Promise.all(processes.map(({ authority }) => placed(authority)));
  const kept = await accounts.find(lab.gate.directoryUrl);
  for (const { authority } of processes) {
    expect(await authority.accountUri()).toBe(kept?.url);
    for (const order of orders) expect((await authority.look(order)).kind).toBe('challenge');
  }
});

test('an order of another account, or one that never existed, is reported as gone', async () => {
  const order = await placed(connectAuthority(lab).authority);
  const { authority } = connectAuthority(lab);
  for (const url of [order.url, `${order.url}x`, `${new URL(order.url).origin}/nonsense`]) {
    expect(await authority.look({ ...order, url })).toMatchObject({
      kind: 'failed',
      failure: { reason: 'order_gone', retryAt: undefined },
    });
  }
});

test('requests are signed only for URLs of the authority', async () => {
  const { authority } = connectAuthority(lab);
  const elsewhere = await startPebbleLab();
  try {
    const order = await placed(authority);
    const foreign = await placed(connectAuthority(elsewhere).authority);
    elsewhere.gate.log.length = 0;
    await authority.look({ ...order, url: foreign.url });
    await authority.finalize({ ...order, url: foreign.url });
    await authority.prove(order, foreign.url);
    expect(elsewhere.gate.log).toEqual([]);
  } finally {
    await elsewhere.close();
  }
});

test('repeated steps take effect once', async () => {
  const connected = connectAuthority(lab);
  const order = await placed(connected.authority);
  const first = await takeToCertificate(connected, order);
  expect(await connected.authority.finalize(order)).toEqual({ kind: 'issued', certificate: first });
  expect(await connected.authority.look(order)).toEqual({ kind: 'issued', certificate: first });
  expect(lab.gate.asked(finalize)).toHaveLength(1);
});

test('our account is registered again once, with the same key, after the authority lost its accounts', async () => {
  const { authorityAccounts: accounts } = await open();
  const connected = connectAuthority(lab, {}, { accounts });
  const order = await placed(connected.authority);
  const before = await accounts.find(lab.gate.directoryUrl);
  await lab.pebble.restart();
  const failure = { reason: 'order_gone' };
  expect(await connected.authority.look(order)).toMatchObject({ kind: 'failed', failure });
  await obtain(connected, order.host);
  const after = await accounts.find(lab.gate.directoryUrl);
  expect(after?.privateKey).toBe(before?.privateKey);
  expect(await connected.authority.accountUri()).toBe(after?.url);
  expect(lab.gate.asked(newAccount)).toHaveLength(2);
});

test('a host that was validated before needs no challenge', async () => {
  const reusing = await startPebbleLab({ reusePercent: 100 });
  try {
    const connected = connectAuthority(reusing);
    const host = newHost();
    await obtain(connected, host);
    const order = await placed(connected.authority, host);
    expect(await connected.authority.look(order)).toEqual({ kind: 'ready' });
    await takeToCertificate(connected, order);
    expect(reusing.gate.asked(challenge)).toHaveLength(1);
  } finally {
    await reusing.close();
  }
});

test('an authority with external account binding accepts only the right key', async () => {
  const hmac = Buffer.alloc(32, 7).toString('base64url');
  const wrongHmac = Buffer.alloc(32, 8).toString('base64url');
  const binding = await startPebbleLab({ externalAccounts: { 'kid-1': hmac } });
  try {
    for (const [eab, detail] of [
      [undefined, /externalAccountBinding/],
      [{ kid: 'kid-1', hmac: wrongHmac }, /verif/],
      [{ kid: 'kid-2', hmac }, /kid|known/i],
    ] as const) {
      const { authority } = connectAuthority(binding, { eab });
      expect(await authority.order(newHost())).toMatchObject({
        kind: 'failed',
        failure: { reason: 'unavailable', detail: expect.stringMatching(detail) },
      });
    }
    await obtain(connectAuthority(binding, { eab: { kid: 'kid-1', hmac } }));
  } finally {
    await binding.close();
  }
});

describe('a host validated by DNS', () => {
  const inDns = (): AnsweredAuthority => ({
    ...connectAuthority(lab),
    publishText: (host, values) => {
      lab.dns.setZone({
        '*.customer.test': { A: ['127.0.0.99'] },
        [`_acme-challenge.${host}`]: { TXT: [...values] },
      });
    },
  });
  afterEach(() => {
    lab.dns.setZone({ '*.customer.test': { A: ['127.0.0.1'] } });
  });

  test('needs no web server', async () => {
    const opened = inDns();
    const order = await placed(opened.authority, newHost(), { method: 'dns-01' });
    expect(await opened.authority.look(order)).toMatchObject({
      kind: 'challenge',
      // SHA-256 in base64url.
      answers: [{ textValue: expect.stringMatching(/^[\w-]{43}$/) }],
    });
    const certificate = await takeToCertificate(opened, order);
    expect(certificate.host).toBe(order.host);
  });

  test('fails the challenge when its record has a different value', async () => {
    const opened = inDns();
    const order = await placed(opened.authority, newHost(), { method: 'dns-01' });
    const wrong = {
      ...opened,
      publishText: () => opened.publishText?.(order.host, ['x'.repeat(43)]),
    };
    const state = await takeTo(wrong, order, 'issued');
    expect(state).toMatchObject({ kind: 'failed', failure: { reason: 'challenge' } });
  });

  test('can share a certificate with its wildcard, which needs two values at one DNS name', async () => {
    const published: (readonly string[])[] = [];
    const opened = inDns();
    const keeping = {
      ...opened,
      publishText: (host: string, values: readonly string[]) => {
        published.push(values);
        opened.publishText?.(host, [...new Set(published.flat())]);
      },
    };
    const host = newHost();
    const order = await placed(opened.authority, host, { method: 'dns-01', also: [`*.${host}`] });
    const { chain } = await takeToCertificate(keeping, order);
    const names = new X509Certificate(chain).subjectAltName?.split(', ').toSorted();
    expect(names).toEqual([`DNS:*.${host}`, `DNS:${host}`]);
    expect(published[0]).toHaveLength(2);
    expect(new Set(published.flat()).size).toBe(2);
  });

  test('gets no certificate for itself alone from an order that also names another name', async () => {
    const opened = inDns();
    const host = newHost();
    const order = await placed(opened.authority, host, { method: 'dns-01' });
    await takeToCertificate(opened, order);
    const state = await opened.authority.look({ ...order, also: [`*.${host}`] });
    expect(state).toMatchObject({ kind: 'failed', failure: { reason: 'unavailable' } });
  });

  test('needs no second answer if its order was already validated', async () => {
    const opened = inDns();
    const order = await placed(opened.authority, newHost(), { method: 'dns-01' });
    const challengeUrl = await challengeUrlOf(opened, { ...order, method: 'http-01' });
    await opened.authority.prove(order, challengeUrl);
    const silent = { ...opened, publishText: undefined };
    expect(await takeTo(silent, order, 'ready')).toEqual({ kind: 'ready' });
    expect(lab.gate.asked(challenge)).toHaveLength(1);
  });
});
