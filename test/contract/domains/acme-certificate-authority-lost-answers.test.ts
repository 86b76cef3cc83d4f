import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  jest,
  test,
} from '@jest/globals';
import {
  connectAuthority,
  keptAccounts,
  startPebbleLab,
  type PebbleLab,
} from '../../lab/authority/pebble-lab.ts';
import { until } from '../../support/until.ts';
import {
  challengeUrlOf,
  newHost,
  obtain,
  placed,
  takeTo,
  takeToCertificate,
} from './certificate-authority-steps.ts';
import { type CaFault, caPlaces } from '../../lab/authority/gate-caa.ts';

const {
  newAccount,
  newOrder,
  order: orderPlace,
  authorization,
  challenge,
  finalize,
  certificate,
} = caPlaces;

let lab: PebbleLab;
beforeAll(async () => {
  lab = await startPebbleLab();
});
afterAll(() => lab.close());
beforeEach(() => void (lab.gate.log.length = 0));
afterEach(() => {
  lab.gate.setFaults();
  jest.restoreAllMocks();
});

describe('an answer that is lost after the authority did the work', () => {
  const losses: [string, Omit<CaFault, 'match'>][] = [
    ['cut off', { reset: true }],
    ['replaced by an error', { status: 502, body: 'bad gateway' }],
    ['replaced by nonsense', { status: 200, body: 'nonsense' }],
  ];

  test.each(losses)('to a new order, %s: the next one is as good', async (_, loss) => {
    const connected = connectAuthority(lab);
    lab.gate.setFaults({ match: newOrder, times: 1, after: true, ...loss });
    const answer = await connected.authority.order(newHost());
    expect(answer).toMatchObject({ failure: { reason: 'unavailable' }, counts: true });
    await obtain(connected);
  });

  test.each(losses)('to a new account, %s: the next one is as good', async (_, loss) => {
    const connected = connectAuthority(lab);
    lab.gate.setFaults({ match: newAccount, times: 1, after: true, ...loss });
    const answer = await connected.authority.order(newHost());
    expect(answer).toMatchObject({ failure: { reason: 'unavailable' } });
    await obtain(connected);
  });

  test.each(losses)('to a proof, %s: the order goes on', async (_, loss) => {
    const connected = connectAuthority(lab);
    const order = await placed(connected.authority);
    lab.gate.setFaults({ match: challenge, times: 1, after: true, ...loss });
    await takeToCertificate(connected, order);
    expect(lab.gate.asked(newOrder)).toHaveLength(1);
  });

  test.each(losses)('to a certificate request, %s: the same order is issued', async (_, loss) => {
    const connected = connectAuthority(lab);
    const order = await placed(connected.authority);
    lab.gate.setFaults({ match: finalize, times: 1, after: true, ...loss });
    await takeToCertificate(connected, order);
    expect(lab.gate.asked(newOrder)).toHaveLength(1);
    expect(lab.gate.asked(finalize)).toHaveLength(1);
  });

  test('to a certificate request, in silence: a later poll gets the certificate', async () => {
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
  ])('to a download, %s: it is repeated within the step', async (_, loss) => {
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

test('an account that the authority never recognises is registered again only once per step', async () => {
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
