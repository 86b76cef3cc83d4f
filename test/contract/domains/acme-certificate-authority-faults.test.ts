import { describe, expect, test, afterEach, jest } from '@jest/globals';
import { SettableClock } from '../../support/settable-clock.ts';
import { connectAuthority, keptAccounts, startPebbleLab } from '../../lab/authority/pebble-lab.ts';
import {
  challengeUrlOf,
  newHost,
  obtain,
  placed,
  takeTo,
  takeToCertificate,
  openPebbleLab,
} from './certificate-authority-steps.ts';
import { type CaFault, caPlaces } from '../../lab/authority/gate-caa.ts';
import { until } from '../../support/until.ts';
import type { CertificateOrder } from '../../../src/domains/domain/certificates/certificate-status.ts';
import type { CertificateAuthority } from '../../../src/domains/certificate-ports.ts';

const {
  directory,
  newAccount,
  newOrder,
  order: orderPlace,
  authorization,
  challenge,
  finalize,
  certificate,
} = caPlaces;
const limit = { type: 'rateLimited', detail: 'too many orders' };
const everything = /./;
const deadlineMs = 200;

const lab = openPebbleLab();

const stepsOf = (authority: CertificateAuthority, order: CertificateOrder, url = '') => [
  () => authority.order(order.host),
  () => authority.look(order),
  () => authority.prove(order, url),
  () => authority.finalize(order),
];

describe('while the authority is down, a step fails as unavailable, and works again afterwards', () => {
  test.each<[string, Omit<CaFault, 'match'>]>([
    ['an internal error', { status: 500, problem: { type: 'serverInternal', detail: 'boom' } }],
    ['a gateway that is down', { status: 503, body: '<h1>Down</h1>' }],
    ['cut connections', { reset: true }],
    ['silence', { hang: true }],
    ['late answers', { delayMs: 2 * deadlineMs }],
    ['nonsense', { status: 200, body: 'upstream fault' }],
    ['a document of another kind', { status: 200, body: '{"status":"valid"}' }],
    ['an endless answer', { status: 200, body: 'x'.repeat(300_000) }],
    ['a redirect', { status: 307, headers: { location: 'https://127.0.0.1:1/' } }],
  ])('%s', async (_, fault) => {
    const accounts = keptAccounts();
    const patient = connectAuthority(lab, {}, { accounts });
    const isSilent = fault.hang ?? fault.delayMs !== undefined;
    const { authority } = connectAuthority(lab, isSilent ? { deadlineMs } : {}, { accounts });
    const order = await placed(patient.authority);
    // An abandoned step may still reach the authority.
    const url = await challengeUrlOf(patient, order);
    const [place, ...others] = stepsOf(authority, order, url);
    for (const [step, match] of [
      [place, everything] as const,
      ...[place, ...others].map((each) => [each, /^POST/] as const),
    ]) {
      lab.gate.setFaults({ match, ...fault });
      const failure = { reason: 'unavailable', detail: expect.any(String), retryAt: undefined };
      expect(await step?.()).toMatchObject({ kind: 'failed', failure });
    }
    lab.gate.setFaults();
    await takeToCertificate(patient, order);
  });

  test('a refusal of the account', async () => {
    const { authority } = connectAuthority(lab);
    const problem = { type: 'unauthorized', detail: 'deactivated' };
    lab.gate.setFaults({ match: newOrder, status: 403, problem });
    const failure = { reason: 'unavailable', detail: 'deactivated' };
    expect(await authority.order(newHost())).toMatchObject({ failure, counts: false });
  });

  test('an unreachable authority', async () => {
    const { authority } = connectAuthority(lab, { directoryUrl: 'https://127.0.0.1:1/dir' });
    expect(await authority.order(newHost())).toMatchObject({
      failure: { reason: 'unavailable', detail: expect.stringContaining('ECONNREFUSED') },
      counts: false,
    });
  });

  test.each([
    ['its directory is unavailable', directory, { status: 503 }, false],
    ['it returns no nonce', caPlaces.newNonce, { status: 503 }, false],
    ['it does not create our account', caPlaces.newAccount, { status: 500 }, false],
    ['it does not answer the order', newOrder, { reset: true }, true],
    ['it fails at the order', newOrder, { status: 500 }, true],
    ['a proxy refuses the order', newOrder, { status: 403 }, true],
    ['a limit is reached', newOrder, { status: 429, problem: limit }, true],
  ] satisfies [string, RegExp, Omit<CaFault, 'match'>, boolean][])(
    'an order counts when the authority may have placed it: %s',
    async (_, match, fault, counts) => {
      const { authority } = connectAuthority(lab);
      lab.gate.setFaults({ match, ...fault });
      expect(await authority.order(newHost())).toMatchObject({ kind: 'failed', counts });
    },
  );

  test('an authority with an untrusted certificate', async () => {
    const { authority } = connectAuthority(lab, { trustedCa: undefined });
    const detail: unknown = expect.stringMatching(/SELF_SIGNED|UNABLE_TO_VERIFY/);
    const failure = { reason: 'unavailable', detail };
    expect(await authority.order(newHost())).toMatchObject({ failure });
  });

  test('an invalid address, or one without TLS', async () => {
    for (const directoryUrl of ['nonsense', lab.gate.directoryUrl.replace('https', 'http')]) {
      const { authority } = connectAuthority(lab, { directoryUrl });
      expect(await authority.order(newHost())).toMatchObject({
        failure: { reason: 'unavailable' },
      });
    }
  });

  test('unreadable accounts', async () => {
    const accounts = {
      find: () => Promise.reject(new Error('secret')),
      save: () => Promise.reject(new Error('secret')),
    };
    const { authority } = connectAuthority(lab, {}, { accounts });
    const answer = await authority.order(newHost());
    expect(answer).toMatchObject({ failure: { reason: 'unavailable' } });
    expect(JSON.stringify(answer)).not.toContain('secret');
    expect(await authority.accountUri()).toBeUndefined();
  });
});

test('an invalid directory is read again', async () => {
  const connected = connectAuthority(lab);
  lab.gate.setFaults({ match: directory, times: 1, body: '{}' });
  expect((await connected.authority.order(newHost())).kind).toBe('failed');
  await obtain(connected);
});

describe('a rate limit', () => {
  const now = new Date('2026-03-01T12:00:00Z');
  const after = (ms: number) => new Date(now.getTime() + ms);
  const hour = 3_600_000;
  const problem = { type: 'rateLimited', detail: 'too many orders' };

  test.each<[string, Omit<CaFault, 'match' | 'status'>, Date]>([
    ['seconds', { problem, headers: { 'retry-after': '3600' } }, after(hour)],
    [
      'a date',
      { problem, headers: { 'retry-after': 'Sun, 01 Mar 2026 14:00:00 GMT' } },
      after(2 * hour),
    ],
    [
      'its text',
      { problem: { ...problem, detail: 'too many: retry after 2026-03-01 15:30:00 UTC: see' } },
      after(3.5 * hour),
    ],
    ['nothing', { problem }, after(hour)],
    ['nonsense', { problem, headers: { 'retry-after': 'soon' } }, after(hour)],
    ['years', { problem, headers: { 'retry-after': '99999999' } }, after(8 * 24 * hour)],
    [
      'seconds, from a gateway',
      { body: 'slow down', headers: { 'retry-after': '60' } },
      after(60_000),
    ],
  ])('lasts as long as Retry-After says: %s', async (_, fault, retryAt) => {
    const { authority } = connectAuthority(lab, {}, { clock: new SettableClock(now) });
    lab.gate.setFaults({ match: newOrder, status: 429, ...fault });
    const answer = await authority.order(newHost());
    expect(answer).toMatchObject({ failure: { reason: 'rate_limited', retryAt } });
  });

  test('fails every step at once, without further requests', async () => {
    const { authority } = connectAuthority(lab);
    const order = await placed(authority);
    const url = await challengeUrlOf({ authority }, order);
    for (const step of stepsOf(authority, order, url)) {
      lab.gate.log.length = 0;
      // The directory is cached only until the first failure.
      lab.gate.setFaults({ match: /^POST/, status: 429, problem });
      expect(await step()).toMatchObject({ failure: { reason: 'rate_limited' } });
      expect(lab.gate.asked(/^POST/)).toHaveLength(1);
    }
  });

  test('ends a step even when it answers the last request of the step', async () => {
    const connected = connectAuthority(lab);
    const order = await placed(connected.authority);
    await takeTo(connected, order, 'ready');
    lab.gate.setFaults({ match: finalize, times: 1, status: 429, problem });
    lab.gate.log.length = 0;
    const failure = { reason: 'rate_limited' };
    expect(await connected.authority.finalize(order)).toMatchObject({ failure });
    expect(lab.gate.asked(/^POST/).at(-1)?.line).toMatch(finalize);
    await takeToCertificate(connected, order);
  });

  test('of the whole server (503) does not limit our account, but its Retry-After counts', async () => {
    const { authority } = connectAuthority(lab, {}, { clock: new SettableClock(now) });
    lab.gate.setFaults({ match: newOrder, status: 503, headers: { 'retry-after': '120' } });
    const answer = await authority.order(newHost());
    expect(answer).toMatchObject({ failure: { reason: 'unavailable', retryAt: after(120_000) } });
  });
});

describe('nonces', () => {
  test('that are sometimes refused only cost extra requests', async () => {
    const strict = await startPebbleLab({ badNoncePercent: 5 });
    const refused = () => strict.gate.log.filter(({ status }) => status === 400);
    try {
      const connected = connectAuthority(strict);
      let obtained = 0;
      for (; refused().length === 0; obtained++) await obtain(connected);
      const finalized = strict.gate.asked(finalize).filter(({ status }) => status === 200);
      expect(finalized).toHaveLength(obtained);
    } finally {
      await strict.close();
    }
  });

  test('that are always refused make the authority unavailable after six tries', async () => {
    const { authority } = connectAuthority(lab);
    await placed(authority);
    lab.gate.log.length = 0;
    const problem = { type: 'badNonce', detail: 'no' };
    lab.gate.setFaults({ match: newOrder, status: 400, problem });
    const answer = await authority.order(newHost());
    expect(answer).toMatchObject({ failure: { reason: 'unavailable', detail: 'no' } });
    expect(lab.gate.asked(newOrder)).toHaveLength(6);
    expect(lab.gate.asked(caPlaces.newNonce)).toEqual([]);
  });
});

afterEach(() => void jest.restoreAllMocks());

describe('an answer that is lost after the authority did the work', () => {
  const losses: [string, Omit<CaFault, 'match'>][] = [
    ['cut off', { reset: true }],
    ['replaced by an error', { status: 502, body: 'bad gateway' }],
    ['replaced by nonsense', { status: 200, body: 'nonsense' }],
  ];

  test.each(losses)('to a new order, %s: the next order works', async (_, loss) => {
    const connected = connectAuthority(lab);
    lab.gate.setFaults({ match: newOrder, times: 1, after: true, ...loss });
    const answer = await connected.authority.order(newHost());
    expect(answer).toMatchObject({ failure: { reason: 'unavailable' }, counts: true });
    await obtain(connected);
  });

  test.each(losses)('to a new account, %s: the next request works', async (_, loss) => {
    const connected = connectAuthority(lab);
    lab.gate.setFaults({ match: newAccount, times: 1, after: true, ...loss });
    const answer = await connected.authority.order(newHost());
    expect(answer).toMatchObject({ failure: { reason: 'unavailable' } });
    await obtain(connected);
  });

  test.each(losses)('to a challenge, %s: the order continues', async (_, loss) => {
    const connected = connectAuthority(lab);
    const order = await placed(connected.authority);
    lab.gate.setFaults({ match: challenge, times: 1, after: true, ...loss });
    await takeToCertificate(connected, order);
    expect(lab.gate.asked(newOrder)).toHaveLength(1);
  });

  test.each(losses)(
    'to a certificate request, %s: the same order issues the certificate',
    async (_, loss) => {
      const connected = connectAuthority(lab);
      const order = await placed(connected.authority);
      lab.gate.setFaults({ match: finalize, times: 1, after: true, ...loss });
      await takeToCertificate(connected, order);
      expect(lab.gate.asked(newOrder)).toHaveLength(1);
      expect(lab.gate.asked(finalize)).toHaveLength(1);
    },
  );

  test('to a certificate request, without an error: a later poll gets the certificate', async () => {
    const accounts = keptAccounts();
    const connected = connectAuthority(lab, {}, { accounts });
    const order = await placed(connected.authority);
    await takeTo(connected, order, 'ready');
    lab.gate.setFaults({ match: finalize, times: 1, after: true, hang: true });
    const deadline = new AbortController();
    jest.spyOn(AbortSignal, 'timeout').mockReturnValueOnce(deadline.signal);
    const { authority } = connectAuthority(lab, {}, { accounts });
    const finalized = authority.finalize(order);
    await until('it was done', async () => {
      return (await connected.authority.look(order)).kind !== 'ready';
    });
    deadline.abort();
    expect(await finalized).toMatchObject({ failure: { reason: 'unavailable' } });
    await takeToCertificate(connected, order);
    expect(lab.gate.asked(finalize)).toHaveLength(1);
  });

  test.each<[string, Omit<CaFault, 'match'>]>([
    ...losses.slice(0, 2),
    ['not there yet', { status: 404, body: 'not found' }],
  ])('to a download, %s: the same step downloads it again', async (_, loss) => {
    const connected = connectAuthority(lab);
    const order = await placed(connected.authority);
    await takeTo(connected, order, 'ready');
    lab.gate.setFaults({ match: certificate, times: 1, after: true, ...loss });
    await takeToCertificate(connected, order);
    expect(lab.gate.asked(certificate)).toHaveLength(2);
  });
});

test('an accepted challenge is not requested again while it is pending', async () => {
  const accounts = keptAccounts();
  const { authority } = connectAuthority(lab, {}, { accounts });
  const order = await placed(authority);
  const url = await challengeUrlOf({ authority }, order);
  const { origin } = new URL(order.url);
  const urls = { authorizations: [`${origin}/authZ/1`], finalize: `${origin}/finalize-order/1` };
  const shown = { type: 'http-01', status: 'pending', token: 'token', url };
  lab.gate.setFaults(
    { match: orderPlace, body: JSON.stringify({ status: 'pending', ...urls }) },
    {
      match: authorization,
      body: JSON.stringify({ status: 'pending', challenges: [shown] }),
      headers: { 'retry-after': '3' },
    },
  );
  expect((await authority.look(order)).kind).toBe('challenge');
  const waiting = { kind: 'processing', askAgainAfterMs: 3000 };
  expect(await authority.prove(order, url)).toEqual(waiting);
  expect(await authority.look(order)).toEqual(waiting);
  const forgetful = connectAuthority(lab, {}, { accounts });
  expect((await forgetful.authority.look(order)).kind).toBe('challenge');
});

test("an order in progress is polled as the authority's Retry-After says, within limits", async () => {
  const { authority } = connectAuthority(lab);
  const order = await placed(authority);
  const { origin } = new URL(order.url);
  const body = JSON.stringify({
    status: 'processing',
    authorizations: [`${origin}/authZ/1`],
    finalize: `${origin}/finalize-order/1`,
  });
  for (const [retryAfter, askAgainAfterMs] of [
    ['7', 7000],
    ['0', 1000],
    ['86400', 300_000],
    ['', 1000],
  ] as const) {
    const headers = { 'retry-after': retryAfter };
    lab.gate.setFaults({ match: orderPlace, body, headers });
    expect(await authority.look(order)).toEqual({ kind: 'processing', askAgainAfterMs });
  }
});

test('an account that the authority never recognises is registered again only once in each step', async () => {
  const { authority } = connectAuthority(lab);
  await placed(authority);
  lab.gate.log.length = 0;
  const problem = { type: 'accountDoesNotExist', detail: 'who are you?' };
  lab.gate.setFaults({ match: newOrder, status: 400, problem });
  const answer = await authority.order(newHost());
  expect(answer).toMatchObject({ failure: { reason: 'unavailable', detail: 'who are you?' } });
  expect(lab.gate.asked(newAccount)).toHaveLength(1);
  expect(lab.gate.asked(newOrder)).toHaveLength(2);
});
