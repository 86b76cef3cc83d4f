import { afterEach, describe, expect, test } from '@jest/globals';
import { SettableClock } from '../../support/settable-clock.ts';
import type { AuthorityFailureReason } from '../../../src/domains/domain/certificates/certificate-status.ts';
import type { Zone } from '../../lab/dns/zone.ts';
import { connectAuthority, labIssuer } from '../../lab/authority/pebble-lab.ts';
import { obtain, placed, takeTo, openPebbleLab } from './certificate-authority-steps.ts';
import { type FaultProblem, caPlaces, problemText } from '../../lab/authority/gate-caa.ts';

const here: Zone = { '*.customer.test': { A: ['127.0.0.1'] } };
const caa = (...values: readonly string[]): Zone => ({
  ...here,
  'customer.test': { CAA: values.map((value) => ({ tag: 'issue', value })) },
});

const lab = openPebbleLab({ blocked: ['blocked.customer.test'] });
afterEach(() => {
  lab.dns.setZone(here);
  lab.dns.setFaults({});
});

/** How an order ends, and what a later look reports. */
const ending = async (connected = connectAuthority(lab)) => {
  const order = await placed(connected.authority);
  const end = await takeTo(connected, order, 'issued');
  expect(await connected.authority.look(order)).toMatchObject({ kind: end.kind });
  return end;
};

describe('CAA records', () => {
  test('that name another authority forbid the host', async () => {
    lab.dns.setZone(caa('other.test'));
    expect(await ending()).toMatchObject({
      kind: 'failed',
      failure: {
        reason: 'caa',
        detail: expect.stringContaining('CAA record for customer.test prevents issuance'),
        retryAt: undefined,
      },
    });
  });

  test('that name the authority, the type of challenge and our account allow the host', async () => {
    const connected = connectAuthority(lab);
    await obtain(connected);
    const account = (await connected.authority.accountUri()) ?? '';
    const value = `${labIssuer}; validationmethods=http-01; accounturi=${account}`;
    lab.dns.setZone(caa(value));
    expect(await ending(connected)).toMatchObject({ kind: 'issued' });
    lab.dns.setZone(caa(`${value}0`));
    expect(await ending(connected)).toMatchObject({ failure: { reason: 'caa' } });
  });

  test('that cannot be read are a DNS failure', async () => {
    lab.dns.setFaults({ 'customer.test': { rcode: 'SERVFAIL', types: ['CAA'] } });
    const detail: unknown = expect.stringContaining('CAA for customer.test');
    expect(await ending()).toMatchObject({ failure: { reason: 'dns', detail } });
  });
});

describe("a failed challenge has the authority's message", () => {
  test('when the host returns another answer', async () => {
    const { authority } = connectAuthority(lab);
    const publish = (token: string) => lab.challenges.publish(token, 'something else');
    expect(await ending({ authority, publish })).toMatchObject({
      kind: 'failed',
      failure: { reason: 'challenge', detail: expect.stringMatching(/something else/) },
    });
  });

  test('when the host returns no answer', async () => {
    const { authority } = connectAuthority(lab);
    const end = await ending({ authority, publish: () => undefined });
    const detail: unknown = expect.stringMatching(/404/);
    expect(end).toMatchObject({ failure: { reason: 'challenge', detail } });
  });

  test("when the host's address does not respond or is missing", async () => {
    for (const zone of [{ '*.customer.test': { A: ['127.0.0.9'] } }, {}]) {
      lab.dns.setZone(zone);
      expect(await ending()).toMatchObject({ failure: { reason: 'challenge' } });
    }
  });
});

describe('a name is rejected', () => {
  test.each(['blocked.customer.test', 'a_b.customer.test', '192.0.2.1'])('%s', async (host) => {
    const { authority } = connectAuthority(lab);
    const failure = { reason: 'rejected_name', detail: expect.stringMatching(/./) };
    const refused = { kind: 'failed', failure, counts: false };
    expect(await authority.order(host)).toMatchObject(refused);
  });

  const host = 'shop.customer.test';
  const rejected = { type: 'rejectedIdentifier', detail: 'not below this suffix' };
  test.each<[string, FaultProblem, AuthorityFailureReason, string]>([
    ['by a policy', rejected, 'rejected_name', rejected.detail],
    [
      'because of its type',
      { ...rejected, type: 'unsupportedIdentifier' },
      'rejected_name',
      rejected.detail,
    ],
    [
      'in a subproblem',
      { type: 'malformed', detail: 'some', subproblems: [rejected] },
      'rejected_name',
      rejected.detail,
    ],
    [
      'by the message text',
      { type: 'malformed', detail: `Cannot issue for "${host}"` },
      'rejected_name',
      `Cannot issue for "${host}"`,
    ],
    [
      'but not because of an error in the request',
      { type: 'malformed', detail: 'JWS verification error' },
      'unavailable',
      'JWS verification error',
    ],
    [
      'but not because of changed terms of service',
      { type: 'userActionRequired', detail: 'agree' },
      'unavailable',
      'agree',
    ],
    [
      'but not when CAA is looked up at once',
      { type: 'caa', detail: 'forbidden' },
      'caa',
      'forbidden',
    ],
  ])('%s', async (_, problem, reason, detail) => {
    const { authority } = connectAuthority(lab);
    lab.gate.setFaults({ match: caPlaces.newOrder, status: 400, problem });
    const answer = await authority.order(host);
    expect(answer).toMatchObject({ failure: { reason, detail, retryAt: undefined } });
  });

  test('messages of the authority are shortened and cleaned before they are shown', async () => {
    const { authority } = connectAuthority(lab);
    const problem = { type: 'rejectedIdentifier', detail: `a\u0000b\n${'x'.repeat(5000)}` };
    lab.gate.setFaults({ match: caPlaces.newOrder, status: 400, problem });
    const answer = await authority.order(host);
    const { detail } = answer.kind === 'failed' ? answer.failure : { detail: '' };
    expect(detail).toMatch(/^a b x+$/);
    expect(detail).toHaveLength(1000);
  });
});

describe('an order that became invalid', () => {
  const now = new Date('2026-03-01T12:00:00Z');

  /** The report on an order when these documents replace its own. */
  const lookAt = async (documents: { order: object; authorization: object }) => {
    const { authority } = connectAuthority(lab, {}, { clock: new SettableClock(now) });
    const order = await placed(authority);
    const { origin } = new URL(order.url);
    const urls = { authorizations: [`${origin}/authZ/1`], finalize: `${origin}/finalize-order/1` };
    lab.gate.setFaults(
      { match: caPlaces.order, body: JSON.stringify({ ...urls, ...documents.order }) },
      { match: caPlaces.authorization, body: JSON.stringify(documents.authorization) },
    );
    return authority.look(order);
  };
  const error = (type: string, detail: string): unknown =>
    JSON.parse(problemText({ type, detail }, 400));
  const challenge = {
    type: 'http-01',
    url: 'https://ca.test/1',
    token: 'token',
    status: 'invalid',
  };
  const valid = { status: 'valid', challenges: [] };

  test.each<[string, object, object, AuthorityFailureReason, string]>([
    [
      'has the reason of its challenge',
      { status: 'invalid', error: error('unauthorized', 'the order') },
      { status: 'invalid', challenges: [{ ...challenge, error: error('tls', 'the challenge') }] },
      'challenge',
      'the challenge',
    ],
    [
      'before its challenge shows the failure also has that reason',
      { status: 'pending' },
      { status: 'invalid', challenges: [{ ...challenge, error: error('dns', 'no resolver') }] },
      'dns',
      'no resolver',
    ],
    [
      'by an internal error of the authority counts as a failed challenge',
      { status: 'invalid' },
      { status: 'invalid', challenges: [{ ...challenge, error: error('serverInternal', 'oops') }] },
      'challenge',
      'oops',
    ],
    [
      'after its challenges has the reason of the order',
      { status: 'invalid', error: error('caa', 'CAA changed') },
      valid,
      'caa',
      'CAA changed',
    ],
    [
      'by an internal error of the authority after its challenges is gone',
      { status: 'invalid', error: error('serverInternal', 'signing failed') },
      valid,
      'order_gone',
      'signing failed',
    ],
    [
      'without a reason is gone',
      { status: 'invalid' },
      valid,
      'order_gone',
      'The order is no longer valid.',
    ],
    [
      'because its authorization expired is gone',
      { status: 'pending' },
      { status: 'expired', challenges: [] },
      'order_gone',
      'The order is no longer valid.',
    ],
  ])('%s', async (_, order, authorization, reason, detail) => {
    const state = await lookAt({ order, authorization });
    expect(state).toEqual({ kind: 'failed', failure: { reason, detail, retryAt: undefined } });
  });

  test('because of a limit counts as gone, and says when the next order is allowed', async () => {
    const limit = error('rateLimited', 'retry after 2026-03-01 13:30:00 UTC');
    const state = await lookAt({
      order: { status: 'invalid', error: limit },
      authorization: valid,
    });
    const retryAt = new Date('2026-03-01T13:30:00Z');
    expect(state).toMatchObject({ failure: { reason: 'order_gone', retryAt } });
  });

  test('a challenge of another type or with an invalid token is ignored', async () => {
    for (const one of [
      { ...challenge, type: 'dns-01', status: 'pending' },
      { ...challenge, token: '../../etc/passwd', status: 'pending' },
    ]) {
      const authorization = { status: 'pending', challenges: [one] };
      const state = await lookAt({ order: { status: 'pending' }, authorization });
      expect(state).toMatchObject({ failure: { reason: 'unavailable' } });
    }
  });
});
