import { expect, test } from '@jest/globals';
import {
  AnswerRate,
  nameServerLimits,
  networkOf,
  shareOf,
} from '../../../src/adapters/nameserver/limits.ts';
import {
  newResponder,
  question,
  read,
  tokenOf,
  zoneName,
} from '../../support/nameserver/known-zone.ts';

const query = question({ name: `${tokenOf(1)}.${zoneName}`, type: 'TXT' });

test.each([
  ['192.0.2.7', '192.0.2.255', true],
  ['192.0.2.7', '192.0.3.7', false],
  ['192.0.2.7', '::ffff:192.0.2.9', true],
  ['2001:db8:0:12ab::1', '2001:db8:0:12ff:9::', true],
  ['2001:db8:0:12ab::1', '2001:db8:0:13ab::1', false],
  ['fe80::1%eth0', 'fe80::2%eth1', true],
  ['192.0.2.7', '2001:db8::1', false],
])('%s and %s belong to one network: %s', (one, other, isOne) => {
  expect(networkOf(one) === networkOf(other)).toBe(isOne);
});

test('one network gets 20 answers a second, then truncated ones that are no longer than the query', async () => {
  let now = 500;
  let asked = 0;
  const find = () => {
    asked += 1;
    return Promise.resolve(new Map<string, readonly string[]>());
  };
  const responder = newResponder({ find, perSecond: 20, elapsed: () => now });
  const burst = () =>
    Promise.all(Array.from({ length: 50 }, async () => responder.overUdp(query, '192.0.2')));
  const first = await burst();
  const cut = first.filter((answer) => answer && read(answer).flag_tc);
  expect(cut).toHaveLength(30);
  for (const answer of cut) expect(answer?.length).toBe(query.length);
  expect(asked).toBe(1);
  expect(responder.limited).toBe(30);
  // Another network and the next second start from zero. Nobody can forge the origin of a connection.
  const later = await responder.overUdp(query, '198.51.100');
  expect(later && read(later).flag_tc).toBe(false);
  const overTcp = await responder.overTcp(query);
  expect(overTcp && read(overTcp).flag_tc).toBe(false);
  now = 1000;
  expect((await burst()).filter((answer) => answer && read(answer).flag_tc)).toHaveLength(30);
});

test.each([
  [1, 20],
  [2, 10],
  [3, 6],
  [40, 1],
])(
  'with %i processes on one port, each gives a network %i answers a second',
  (processes, share) => {
    expect(shareOf(nameServerLimits, processes)).toBe(share);
  },
);

test('messages that no resolver would send get no answer beyond the limit', () => {
  const responder = newResponder({ perSecond: 1, elapsed: () => 0 });
  const malformed = query.subarray(0, 20);
  expect(responder.overUdp(malformed, '192.0.2')).toHaveLength(12);
  expect(responder.overUdp(malformed, '192.0.2')).toBeUndefined();
});

test('during a flood from forged networks, other networks still get answers', () => {
  const rate = new AnswerRate({ perSecond: 20, elapsed: () => 0 });
  for (let n = 0; n < 200_000; n++) rate.take(`${n >> 16}.${(n >> 8) & 255}.${n & 255}`);
  const others = Array.from({ length: 1000 }, (_, n) => rate.take(`2001:db8:${n}`));
  expect(others).not.toContain(false);
});

test('a resolver is sent to TCP, which still has places, while a flood holds all places for datagrams', async () => {
  const found = Promise.withResolvers<ReadonlyMap<string, readonly string[]>>();
  const responder = newResponder({ find: () => found.promise });
  const forged = (n: number) => question({ name: `${tokenOf(n)}.${zoneName}`, type: 'TXT' });
  const flood = Array.from({ length: 2_300 }, async (_, n) =>
    responder.overUdp(forged(100 + n), String(n)),
  );
  const [cut, overTcp] = [await responder.overUdp(query, 'other'), responder.overTcp(query)];
  expect(cut && read(cut)).toMatchObject({ flag_tc: true, rcode: 'NOERROR' });
  expect(cut).toHaveLength(query.length);
  found.resolve(new Map([[tokenOf(1), ['a value']]]));
  const answer = await overTcp;
  expect(answer && read(answer).answers).toHaveLength(1);
  await Promise.all(flood);
});
