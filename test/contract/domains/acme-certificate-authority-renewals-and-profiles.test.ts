import { describe, expect, test } from '@jest/globals';
import { SettableClock } from '../../support/settable-clock.ts';
import { connectAuthority } from '../../lab/authority/pebble-lab.ts';
import { newHost, obtain, openPebbleLab } from './certificate-authority-steps.ts';
import { type CaFault, caPlaces } from '../../lab/authority/gate-caa.ts';

/** RFC 9773, appendix A. */
const example = `-----BEGIN CERTIFICATE-----
MIIBQzCB66ADAgECAgUAh2VDITAKBggqhkjOPQQDAjAVMRMwEQYDVQQDEwpFeGFt
cGxlIENBMCIYDzAwMDEwMTAxMDAwMDAwWhgPMDAwMTAxMDEwMDAwMDBaMBYxFDAS
BgNVBAMTC2V4YW1wbGUuY29tMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEeBZu
7cbpAYNXZLbbh8rNIzuOoqOOtmxA1v7cRm//AwyMwWxyHz4zfwmBhcSrf47NUAFf
qzLQ2PPQxdTXREYEnKMjMCEwHwYDVR0jBBgwFoAUaYhba4dGQEHhs3uEe6CuLN4B
yNQwCgYIKoZIzj0EAwIDRwAwRAIge09+S5TZAlw5tgtiVvuERV6cT4mfutXIlwTb
+FYN/8oCIClDsqBklhB9KAelFiYt9+6FDj3z4KGVelYM5MdsO3pK
-----END CERTIFICATE-----
`;
const exampleId = 'aYhba4dGQEHhs3uEe6CuLN4ByNQ.AIdlQyE';

const now = new Date('2026-03-01T12:00:00Z');
const clock = new SettableClock(now);
const start = '2026-04-01T00:00:00Z';
const end = '2026-04-02T12:30:00.5Z';
const windowText = JSON.stringify({
  suggestedWindow: { start, end },
  explanationURL: 'https://ca.test',
});

const lab = openPebbleLab();

const ask = (chain = example, settings = {}) =>
  connectAuthority(lab, settings, { clock }).authority.renewalWindow(chain);
const offer = (body = windowText, headers = {}) => lab.gate.setRenewalInfo({ body, headers });

describe('a renewal window', () => {
  test('is requested by the identifier of the certificate, without an account', async () => {
    offer();
    expect(await ask()).toMatchObject({ start: new Date(start), end: new Date(end) });
    const lines = lab.gate.log.map(({ line }) => line);
    expect(lines).toEqual(['GET /dir', `GET /renewal-info/${exampleId}`]);
  });

  test('can be requested for certificates of the authority', async () => {
    const { chain } = await obtain(connectAuthority(lab));
    offer();
    expect(await ask(chain)).toMatchObject({ start: new Date(start) });
    expect(lab.gate.asked(caPlaces.renewalInfo)[0]?.line).toMatch(/\/[\w-]{27}\.[\w-]{11,12}$/);
  });

  test.each([
    ['21600', 21_600],
    ['1', 60],
    ['9999999', 86_400],
    ['Sun, 01 Mar 2026 14:00:00 GMT', 7200],
    ['Sun, 01 Mar 2020 14:00:00 GMT', 60],
    ['soon', 21_600],
    ['', 21_600],
  ])('is requested again after the Retry-After "%s": %i seconds', async (retryAfter, seconds) => {
    offer(windowText, { 'retry-after': retryAfter });
    const askAgainAt = new Date(now.getTime() + seconds * 1000);
    expect(await ask()).toMatchObject({ askAgainAt });
  });

  test('is missing when the authority offers none or the certificate has no identifier', async () => {
    expect(await ask()).toBeUndefined();
    expect(lab.gate.asked(caPlaces.renewalInfo)).toEqual([]);
    offer();
    expect(await ask(lab.pebble.tls.cert)).toBeUndefined();
  });

  test('that ends before it begins is returned unchanged', async () => {
    offer(JSON.stringify({ suggestedWindow: { start: end, end: start } }));
    expect(await ask()).toMatchObject({ start: new Date(end), end: new Date(start) });
  });

  test.each<[string, string]>([
    ['without an end', JSON.stringify({ suggestedWindow: { start } })],
    ['without a valid start', JSON.stringify({ suggestedWindow: { start: 'soon', end } })],
    ['that is not a date', 'nonsense'],
  ])('%s is ignored', async (_, body) => {
    offer(body);
    expect(await ask()).toBe('silent');
  });

  test('is missing if the authority does not know the certificate', async () => {
    offer();
    lab.gate.setFaults({ match: caPlaces.renewalInfo, status: 404, body: 'no such certificate' });
    expect(await ask()).toBeUndefined();
  });

  test.each<[string, Omit<CaFault, 'match'>]>([
    ['server error', { status: 500, body: 'trouble' }],
    ['connection reset', { reset: true }],
  ])('is unknown if the request fails: %s', async (_, fault) => {
    offer();
    lab.gate.setFaults({ match: caPlaces.renewalInfo, ...fault });
    expect(await ask()).toBe('silent');
  });

  test('is unknown if the authority does not answer', async () => {
    offer();
    lab.gate.setFaults({ match: caPlaces.renewalInfo, hang: true });
    expect(await ask(example, { deadlineMs: 300 })).toBe('silent');
  });
});

describe('an order that replaces a certificate', () => {
  const replaced = () =>
    lab.gate
      .asked(caPlaces.newOrder)
      .map(({ payload }) => (payload as { replaces?: string }).replaces);
  const order = (chain = example) => connectAuthority(lab).authority.order(newHost(), chain);

  test('names that certificate where the authority offers renewal windows', async () => {
    offer();
    expect(await order()).toMatchObject({ kind: 'ordered', isExempt: true });
    expect(replaced()).toEqual([exampleId]);
  });

  test('does not name that certificate at other authorities, or when the certificate has no identifier', async () => {
    expect((await order()).kind).toBe('ordered');
    offer();
    expect((await order('nonsense')).kind).toBe('ordered');
    expect(replaced()).toEqual([undefined, undefined]);
  });

  test.each([
    ['alreadyReplaced', 409],
    ['malformed', 400],
    ['malformed', 404],
    ['unauthorized', 403],
  ])(
    'becomes a plain order when the authority answers %s (%i) about the certificate',
    async (type, status) => {
      offer();
      const problem = { type, detail: 'about what is replaced' };
      lab.gate.setFaults({ match: caPlaces.newOrder, times: 1, status, problem });
      expect(await order()).toEqual({ kind: 'not_exempt' });
      expect(replaced()).toEqual([exampleId]);
    },
  );

  test.each([
    ['rateLimited', 'rate_limited'],
    ['rejectedIdentifier', 'rejected_name'],
    ['serverInternal', 'unavailable'],
  ])('is requested only once if the authority answers %s', async (type, reason) => {
    offer();
    lab.gate.setFaults({ match: caPlaces.newOrder, status: 403, problem: { type, detail: 'no' } });
    expect(await order()).toMatchObject({ failure: { reason } });
    expect(replaced()).toEqual([exampleId]);
  });
});

const connect = (profile?: string) => {
  const missed: string[] = [];
  const lacksProfile = (name: string) => void missed.push(name);
  return { ...connectAuthority(lab, { profile, lacksProfile }), missed };
};
const asked = () =>
  lab.gate.asked(caPlaces.newOrder).map(({ payload }) => (payload as { profile?: string }).profile);

test('an order requests the configured profile where the authority offers it', async () => {
  lab.gate.setProfiles('classic', 'shortlived');
  const { authority, missed, publish } = connect('shortlived');
  await obtain({ authority, publish });
  await authority.order(newHost());
  expect(asked()).toEqual(['shortlived', 'shortlived']);
  expect(missed).toEqual([]);
});

test('no profile is requested unless one is configured', async () => {
  lab.gate.setProfiles('classic');
  const { authority, missed } = connect();
  expect(await authority.order(newHost())).toMatchObject({ kind: 'ordered' });
  expect([asked(), missed]).toEqual([[undefined], []]);
});

test.each([[[]], [['classic']]])(
  'an authority that offers %j uses its default profile, and this is reported',
  async (offered) => {
    lab.gate.setProfiles(...offered);
    const { authority, missed } = connect('shortlived');
    expect(await authority.order(newHost())).toMatchObject({ kind: 'ordered' });
    expect([asked(), missed]).toEqual([[undefined], ['shortlived']]);
  },
);

test('a withdrawn profile blocks no renewal, and is requested again once the authority offers it', async () => {
  lab.gate.setProfiles('shortlived');
  const { authority, missed } = connect('shortlived');
  await authority.order(newHost());
  lab.gate.setProfiles('classic');
  expect(await authority.order(newHost())).toMatchObject({ kind: 'ordered' });
  expect(asked()).toEqual(['shortlived', 'shortlived', undefined]);
  expect(missed).toEqual(['shortlived']);
  lab.gate.setProfiles('shortlived');
  await authority.order(newHost());
  expect(asked().at(-1)).toBe('shortlived');
});

test('a renewal names its profile and the certificate that it replaces', async () => {
  lab.gate.setProfiles('shortlived');
  const { authority, publish } = connect('shortlived');
  const { chain } = await obtain({ authority, publish });
  lab.gate.setRenewalInfo({ body: '{}' });
  const again = connect('shortlived');
  expect(await again.authority.order(newHost(), chain)).toMatchObject({ isExempt: true });
  const [payload] = lab.gate
    .asked(caPlaces.newOrder)
    .slice(-1)
    .map((one) => one.payload);
  expect(payload).toMatchObject({ profile: 'shortlived', replaces: expect.any(String) });
});

test('any other refusal of an order with a profile is a failure', async () => {
  lab.gate.setProfiles('shortlived');
  const problem = { type: 'rateLimited', detail: 'too many' };
  lab.gate.setFaults({ match: caPlaces.newOrder, times: 1, status: 429, problem });
  const { authority, missed } = connect('shortlived');
  expect(await authority.order(newHost())).toMatchObject({ failure: { reason: 'rate_limited' } });
  expect([asked(), missed]).toEqual([['shortlived'], []]);
});
