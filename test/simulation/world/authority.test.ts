import { setImmediate as othersFirst } from 'node:timers/promises';
import { createHash, X509Certificate } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { AcmeCertificateAuthority } from '../../../src/adapters/acme/acme-certificate-authority.ts';
import type {
  CertificateOrder,
  OrderState,
} from '../../../src/domains/domain/certificates/certificate-status.ts';
import type { Certificate } from '../../../src/domains/domain/certificates/renewal.ts';
import { keptAccounts } from '../../lab/authority/pebble-lab.ts';
import { SettableClock } from '../../support/settable-clock.ts';
import { Authority } from './authority.ts';
import { limits } from './authority-limits.ts';
import { LookUpFailed, type CaaRecord, type Outlook } from './authority-validation.ts';
import { chanceOf, poolKey } from './chance.ts';
import { dayMs, hourMs, minuteMs } from './durations.ts';

const issuer = 'one.example';
const host = 'shop.pets.example';

/**
 * The records and answers that customers and we publish. All vantage points see the same, unless `blind`
 * says otherwise.
 */
class Published implements Outlook {
  readonly answers = new Map<string, string>();
  readonly texts = new Map<string, readonly string[]>();
  readonly policies = new Map<string, readonly CaaRecord[]>();
  readonly blind = new Set<number>();

  addresses(_host: string, vantage: number): Promise<readonly string[]> {
    return this.#seen(['192.0.2.1'], vantage);
  }
  http01(at: string, token: string, vantage: number): Promise<string | undefined> {
    return this.#seen(this.answers.get(`${at}/${token}`), vantage);
  }
  txt(name: string, vantage: number): Promise<readonly string[]> {
    return this.#seen(this.texts.get(name) ?? [], vantage);
  }
  caa(name: string, vantage: number): Promise<readonly CaaRecord[]> {
    return this.#seen(this.policies.get(name) ?? [], vantage);
  }
  #seen<T>(what: T, vantage: number): Promise<T> {
    return this.blind.has(vantage)
      ? Promise.reject(new LookUpFailed('dns', 'SERVFAIL'))
      : Promise.resolve(what);
  }
}

const open = (seed = 'authority') => {
  const clock = new SettableClock(new Date('2026-12-01T00:00:00Z'));
  const outlook = new Published();
  const asked: (readonly string[])[] = [];
  const model = new Authority({
    origin: 'https://acme.one.example',
    issuers: [issuer],
    outlook,
    chance: chanceOf(seed),
    now: () => clock.now().getTime(),
    workMs: [0, 0],
    onOrder: (names) => void asked.push(names),
  });
  const { directoryUrl } = model;
  const settings = { directoryUrl, issuers: [issuer], http: model };
  const client = (profile?: string): AcmeCertificateAuthority =>
    new AcmeCertificateAuthority({ ...settings, profile }, accounts, clock);
  const accounts = keptAccounts();
  return { clock, outlook, model, asked, client, authority: client() };
};

let world: ReturnType<typeof open>;
beforeEach(() => {
  world = open();
});

const order = async (
  { replaces, ...of }: Partial<CertificateOrder> & { readonly replaces?: string } = {},
  authority = world.authority,
): Promise<CertificateOrder> => {
  const wanted = { host, method: 'http-01', ...of } as const;
  const answer = await authority.order(wanted.host, replaces, wanted.also);
  if (answer.kind !== 'ordered') throw new Error(JSON.stringify(answer));
  return { ...wanted, url: answer.url, privateKey: poolKey(world.model.orders.length) };
};

const publish = (
  { host, method }: CertificateOrder,
  { answers }: Extract<OrderState, { kind: 'challenge' }>,
): void => {
  const { outlook } = world;
  const [{ token, keyAuthorization }] = answers;
  const values = answers.map(({ textValue }) => textValue);
  if (method === 'dns-01') outlook.texts.set(`_acme-challenge.${host}`, values);
  else outlook.answers.set(`${host}/${token}`, keyAuthorization);
};

const step = async (of: CertificateOrder, state: OrderState): Promise<OrderState> => {
  if (state.kind === 'ready') return world.authority.finalize(of);
  if (state.kind !== 'challenge') {
    await othersFirst();
    return world.authority.look(of);
  }
  publish(of, state);
  return world.authority.prove(of, state.challengeUrl);
};

const end = async (of: CertificateOrder): Promise<OrderState> => {
  let state = await world.authority.look(of);
  while (state.kind !== 'issued' && state.kind !== 'failed') state = await step(of, state);
  return state;
};

const certificateOf = async (of: CertificateOrder): Promise<Certificate> => {
  const state = await end(of);
  if (state.kind !== 'issued') throw new Error(JSON.stringify(state));
  return state.certificate;
};

/** The name was never validated, so each attempt costs a challenge. */
const fail = async (of: CertificateOrder): Promise<OrderState> => {
  const state = await world.authority.look(of);
  if (state.kind !== 'challenge') throw new Error(state.kind);
  await world.authority.prove(of, state.challengeUrl);
  return end(of);
};

describe('a certificate', () => {
  test('is issued for a name and its wildcard that are in the DNS', async () => {
    const also = [`*.${host}`];
    const { chain } = await certificateOf(await order({ method: 'dns-01', also }));
    const names = new X509Certificate(chain).subjectAltName?.split(', ').toSorted();
    expect(names).toEqual([`DNS:*.${host}`, `DNS:${host}`]);
  });

  test('has the same text whenever the random numbers are the same', async () => {
    const { chain } = await certificateOf(await order());
    world = open();
    expect(await certificateOf(await order())).toMatchObject({ chain });
    world = open('another seed');
    expect((await certificateOf(await order())).chain).not.toBe(chain);
  });
});

describe('a request', () => {
  test('with a used nonce is refused', async () => {
    const sent: Parameters<Authority['send']>[0][] = [];
    const { model } = world;
    const send = model.send.bind(model);
    model.send = (request, signal) => {
      sent.push(request);
      return send(request, signal);
    };
    await order();
    const last = sent.at(-1);
    if (!last) throw new Error('nothing was sent');
    const answer = await send(last, new AbortController().signal);
    expect(answer.status).toBe(400);
    expect(answer.body).toContain('badNonce');
    expect(answer.headers['replay-nonce']).toBeDefined();
  });
});

describe('CAA', () => {
  const forbid = () => world.outlook.policies.set('pets.example', [record('two.example')]);
  const record = (value: string): CaaRecord => ({ flags: 0, tag: 'issue', value });
  const refused = { kind: 'failed', failure: { reason: 'caa' } };

  test('of a parent can forbid a certificate', async () => {
    forbid();
    expect(await end(await order())).toMatchObject(refused);
  });

  test('is checked again before issuing, when the validation is older than seven hours', async () => {
    await certificateOf(await order());
    forbid();
    world.clock.advance(6 * hourMs);
    await certificateOf(await order());
    world.clock.advance(2 * hourMs);
    expect(await end(await order())).toMatchObject(refused);
  });

  test.each([
    ['another method', `${issuer}; validationmethods=dns-01`],
    ['another account', `${issuer}; accounturi=https://acme.one.example/acme/acct/7`],
    ['nobody', ';'],
  ])('that only allows %s forbids a certificate', async (_who, value) => {
    world.outlook.policies.set(host, [record(value)]);
    expect(await end(await order())).toMatchObject(refused);
  });
});

describe('a validation', () => {
  test.each([[[3, 4]], [[0]]])('does not count if %j cannot see it', async (blind) => {
    for (const vantage of blind) world.outlook.blind.add(vantage);
    const failure = { reason: 'dns' };
    expect(await end(await order())).toMatchObject({ kind: 'failed', failure });
  });
});

describe('a limit', () => {
  const useUp = async (): Promise<Certificate> => {
    const last = [];
    for (let at = 0; at < limits.perNames.of; at++) last.push(await certificateOf(await order()));
    const certificate = last.at(-1);
    if (!certificate) throw new Error('none was issued');
    return certificate;
  };
  const refusedFor = (waitMs: number) => ({
    kind: 'failed',
    failure: {
      reason: 'rate_limited',
      retryAt: new Date(world.clock.now().getTime() + waitMs),
    },
  });

  test('refuses the sixth certificate of the same names in a week, with the time to wait', async () => {
    await useUp();
    const { refillMs } = limits.perNames;
    expect(await world.authority.order(host)).toMatchObject(refusedFor(refillMs));
    expect(world.model.over).toEqual([
      { at: world.clock.now().getTime(), limit: limits.perNames.name, of: host },
    ]);
    world.clock.advance(refillMs);
    await order();
  });

  test('does not apply to a renewal that names the certificate it replaces', async () => {
    const { chain } = await useUp();
    const before = world.model.counts();
    const renewed = await order({ replaces: chain });
    await certificateOf(renewed);
    expect(world.model.counts()).toEqual(before);
    expect(world.model.over).toEqual([]);
    expect(world.model.orders.at(-1)).toMatchObject({ isExempt: true });
    expect(await world.authority.order(host, chain)).toEqual({ kind: 'not_exempt' });
  });

  test('applies to a renewal outside its window, if the authority is that strict', async () => {
    const { chain } = await useUp();
    world.model.weather.exemptsOnlyInWindow = true;
    const refused = refusedFor(limits.perNames.refillMs);
    expect(await world.authority.order(host, chain)).toMatchObject(refused);
    world.clock.advance(60 * dayMs);
    expect(await order({ replaces: chain })).toBeDefined();
    expect(world.model.orders.at(-1)).toMatchObject({ isExempt: true });
  });

  test('applies to a name that failed five times in an hour', async () => {
    for (let at = 0; at < limits.failures.of; at++) {
      const failure = { reason: 'challenge' };
      expect(await fail(await order())).toMatchObject({ kind: 'failed', failure });
    }
    expect(await world.authority.order(host)).toMatchObject(refusedFor(12 * minuteMs));
    await order({ host: 'other.pets.example' });
  });
});

describe('a renewal window', () => {
  test('begins after two thirds of the lifetime, and at once after a mass revocation', async () => {
    const { authority, model, clock } = world;
    const { chain, notAfter } = await certificateOf(await order());
    const askAgainAt = new Date(clock.now().getTime() + 6 * hourMs);
    const window = await authority.renewalWindow(chain);
    const middle = new Date(notAfter.getTime() - 30 * dayMs);
    expect(window).toMatchObject({ askAgainAt });
    if (typeof window !== 'object') throw new Error(window);
    expect(window.start < middle && middle < window.end).toBe(true);
    model.moveWindows();
    const now = clock.now();
    const start = new Date(now.getTime() - hourMs);
    expect(await authority.renewalWindow(chain)).toMatchObject({ start });
    expect(await world.client().renewalWindow(await foreignChain())).toBeUndefined();
  });

  const foreignChain = async (): Promise<string> => {
    world = open('another authority');
    return (await certificateOf(await order())).chain;
  };
});

test('orders are reported before they are checked', async () => {
  world.model.rejected.add(host);
  const failure = { reason: 'rejected_name' };
  expect(await world.authority.order(host)).toMatchObject({ kind: 'failed', failure });
  expect(world.asked).toEqual([[host]]);
  expect(world.model.orders).toEqual([]);
});

test('a key of the pool is the same in every process', () => {
  const digest = createHash('sha256').update(poolKey(3)).digest('hex');
  expect(digest).toBe('718311bf20240a8f60274fbc5dc8df468009660b2d81f853a18c7f0f04024df1');
  expect(poolKey(3)).not.toBe(poolKey(4));
});
