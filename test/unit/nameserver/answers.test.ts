import { fuzzPackets } from '../../fuzz/dns-packets.ts';
import {
  edns,
  firstValue,
  newResponder,
  question,
  read,
  secondValue,
  tokenOf,
  zoneName,
} from '../../support/nameserver/known-zone.ts';
import { expect, test } from '@jest/globals';
import { randomInt } from 'node:crypto';

const responder = newResponder();

const ask = async (query: Buffer, transport: 'udp' | 'tcp' = 'udp') => {
  const answer = await (transport === 'udp'
    ? responder.overUdp(query, '192.0.2')
    : responder.overTcp(query));
  if (!answer) throw new Error('there is no answer');
  return answer;
};
const asked = async (name: string, type: string, rest = {}) =>
  read(await ask(question({ name, type, ...rest })));

const soa = (ttl: number) =>
  expect.objectContaining({ type: 'SOA', name: zoneName, ttl }) as unknown;
const [one, two] = [`${tokenOf(1)}.${zoneName}`, `${tokenOf(2)}.${zoneName}`];
const [noError, formErr, servFail, nxDomain, notImp, refused, badVers] = [0, 1, 2, 3, 4, 5, 16];

test('the values of a label are its TXT records, which no resolver may cache', async () => {
  const answer = await asked(two, 'TXT');
  expect(answer).toMatchObject({ code: noError, isAuthority: true, authorities: [] });
  expect(answer.answers?.map((record) => record.type === 'TXT' && String(record.data))).toEqual([
    firstValue,
    secondValue,
  ]);
  expect(answer.answers).toMatchObject([
    { name: two, ttl: 0 },
    { name: two, ttl: 0 },
  ]);
});

test('the apex has an SOA record and an NS record, whose name server lies outside the zone', async () => {
  expect((await asked(zoneName, 'SOA')).answers).toEqual([
    {
      type: 'SOA',
      name: zoneName,
      class: 'IN',
      ttl: 3600,
      flush: false,
      data: {
        mname: 'acme-ns.store.example',
        rname: 'hostmaster.store.example',
        serial: 1,
        refresh: 3600,
        retry: 600,
        expire: 604_800,
        minimum: 0,
      },
    },
  ]);
  expect((await asked(zoneName, 'NS')).answers).toMatchObject([
    { name: zoneName, ttl: 3600, data: 'acme-ns.store.example' },
  ]);
});

test.each([
  ['the apex has no such record', zoneName, 'A', noError],
  ['the apex has no DS, which belongs in the parent', zoneName, 'DS', noError],
  ['a label with values has no other record', one, 'CAA', noError],
  ['a label without values does not exist', `${tokenOf(3)}.${zoneName}`, 'TXT', nxDomain],
  [
    'a label without values does not exist for any type',
    `${tokenOf(3)}.${zoneName}`,
    'A',
    nxDomain,
  ],
  ['nothing exists below a label', `a.${one}`, 'TXT', nxDomain],
  ['a name that is not a token does not exist', `_acme-challenge.${zoneName}`, 'TXT', nxDomain],
  ['a wildcard is treated like any other name', `*.${zoneName}`, 'TXT', nxDomain],
])('%s: no record, and the SOA forbids caching that', async (_, name, type, code) => {
  const answer = await asked(name, type);
  expect(answer).toMatchObject({ code, isAuthority: true, answers: [] });
  expect(answer.authorities).toEqual([soa(0)]);
});

test.each([
  ['a name elsewhere', 'www.example.com', 'A', {}],
  ['the parent of the zone', 'store.example', 'SOA', {}],
  ['the root', '.', 'NS', {}],
  ['a name with the same ending', `x${zoneName}`, 'SOA', {}],
  ['another class', zoneName, 'SOA', { class: 'CH' }],
  ['any class', zoneName, 'SOA', { class: 'ANY' }],
  ['a transfer of the zone', zoneName, 'AXFR', {}],
  ['a transfer of its changes', zoneName, 'IXFR', {}],
  ['a key exchange', zoneName, 'TKEY', {}],
])('%s is refused', async (_, name, type, rest) => {
  const answer = await asked(name, type, rest);
  expect(answer).toMatchObject({ code: refused, isAuthority: false, answers: [], authorities: [] });
});

test('an incremental zone transfer, which carries an SOA record, is refused too', async () => {
  const data = { mname: 'a', rname: 'b' };
  const authorities = [{ type: 'SOA' as const, name: zoneName, data }];
  expect(await asked(zoneName, 'IXFR', { authorities })).toMatchObject({ code: refused });
});

test("only token labels and the platform's label are looked up in the database", async () => {
  const looked: string[] = [];
  const find = (labels: readonly string[]) => {
    looked.push(...labels);
    return Promise.resolve(new Map<string, readonly string[]>());
  };
  const here = newResponder({ find });
  const forms = ['a', 'www', `t-${'g'.repeat(32)}`, `t-${'0'.repeat(31)}`, `t-${'0'.repeat(33)}`];
  for (const label of [...forms, tokenOf(5), tokenOf(6).toUpperCase(), 'platform']) {
    const answer = await here.overTcp(question({ name: `${label}.${zoneName}`, type: 'TXT' }));
    expect(answer && read(answer).code).toBe(nxDomain);
  }
  expect(looked).toEqual([tokenOf(5), tokenOf(6), 'platform']);
});

test('a query for all records gets some of them (RFC 8482)', async () => {
  expect((await asked(zoneName, 'ANY')).answers).toEqual([soa(3600)]);
  expect((await asked(one, 'ANY')).answers).toMatchObject([{ type: 'TXT', name: one }]);
});

test('the query is returned with the case of each letter, and its RD and CD flags', async () => {
  const name = `${tokenOf(2)}.aCMe.StOrE.eXaMPle`;
  const query = question({ name, type: 'TXT', flags: 0x0110 });
  const answer = await ask(query);
  expect(answer.subarray(12, query.length)).toEqual(query.subarray(12));
  expect(answer.readUInt16BE(2)).toBe(0x8510);
  expect(read(answer).answers).toHaveLength(2);
});

test('a dot within a label is one of its characters, and matches no other name', async () => {
  const label = Buffer.from(`${tokenOf(1)}.acme`);
  const query = Buffer.concat([
    question({ name: 'store.example', type: 'TXT' }).subarray(0, 12),
    Buffer.from([label.length]),
    label,
    question({ name: 'store.example', type: 'TXT' }).subarray(12),
  ]);
  expect(read(await ask(query)).code).toBe(refused);
});

test('a label that contains the bytes of the zone is not in the zone', async () => {
  const zone = question({ name: zoneName, type: 'TXT' });
  const inside = zone.subarray(12, zone.indexOf(0, 12));
  const query = Buffer.concat([
    zone.subarray(0, 12),
    Buffer.from([inside.length + 1]),
    Buffer.from('x'),
    inside,
    zone.subarray(12 + inside.length),
  ]);
  expect(read(await ask(query)).code).toBe(refused);
});

test('EDNS is answered with EDNS, and without a signature, whatever the query requests', async () => {
  const additionals = [{ ...edns(), flags: 0x8000, flag_do: true }];
  const answer = await asked(one, 'TXT', { additionals });
  expect(answer.additionals).toMatchObject([
    { type: 'OPT', udpPayloadSize: 1232, ednsVersion: 0, flag_do: false, options: [] },
  ]);
  expect((await asked(one, 'TXT')).additionals).toEqual([]);
});

test('another version of EDNS is answered with the supported one', async () => {
  const answer = await asked(one, 'TXT', { additionals: [edns(1232, 1)] });
  expect(answer).toMatchObject({ code: badVers, answers: [] });
  expect(answer.additionals).toMatchObject([{ ednsVersion: 0 }]);
});

test.each([
  ['without EDNS', undefined, 512],
  ['with little room', 600, 600],
  ['with less room than any resolver has', 100, 512],
  ['with as much room as networks carry', 1232, 1232],
  ['with more room than networks carry', 65_535, 1232],
])(
  '%s, an answer that does not fit into a datagram is truncated, and complete over TCP',
  async (_, room, most) => {
    const additionals = room === undefined ? [] : [edns(room)];
    const query = question({ name: `${tokenOf(9)}.${zoneName}`, type: 'TXT', additionals });
    const cut = await ask(query);
    expect(cut.length).toBeLessThanOrEqual(query.length);
    expect(read(cut)).toMatchObject({ flag_tc: true, code: noError, answers: [] });
    const whole = await ask(query, 'tcp');
    expect(whole.length).toBeGreaterThan(most);
    expect(read(whole)).toMatchObject({ flag_tc: false, answers: Array(8).fill({}) });
  },
);

test('a label counts neither as existing nor as missing while the database is unavailable', async () => {
  const find = () => Promise.reject(new Error('away'));
  const away = newResponder({ find });
  const answer = async (name: string, type: string) => {
    const bytes = await away.overUdp(question({ name, type }), '192.0.2');
    return bytes && read(bytes);
  };
  expect(await answer(one, 'TXT')).toMatchObject({ code: servFail, authorities: [] });
  expect(await answer(one, 'A')).toMatchObject({ code: servFail });
  // Names without challenge values are answered as usual.
  expect(await answer(zoneName, 'SOA')).toMatchObject({ code: noError });
  expect(await answer(`a.${one}`, 'TXT')).toMatchObject({ code: nxDomain });
  expect(await answer('www.example.com', 'A')).toMatchObject({ code: refused });
});

test.each(Array.from({ length: 15 }, (_, n) => n + 1))(
  'the operation %i is not implemented',
  async (opcode) => {
    const query = question({ name: zoneName, type: 'SOA', flags: opcode << 11 });
    const answer = await ask(query);
    expect(answer.length).toBe(12);
    expect(answer.readUInt16BE(2)).toBe(0x8000 | (opcode << 11) | notImp);
  },
);

const bare = '\0\x01\0\0\0\0\0\0';
const wire = (query: Buffer) => query.toString('latin1');
const usual = wire(question({ name: one, type: 'TXT', additionals: [edns()] }));
const withCounts = (counts: string, text = usual) => text.slice(0, 4) + counts + text.slice(12);
const opt = usual.slice(-11);

test.each([
  ['no question', withCounts('\0\0\0\0\0\0\0\x01')],
  ['two questions', withCounts('\0\x02\0\0\0\0\0\x01')],
  ['more records than there are', withCounts('\0\x01\0\0\0\0\0\x02')],
  ['fewer records than there are', withCounts('\0\x01\0\0\0\0\0\0')],
  ['only a header', usual.slice(0, 12)],
  ['half a name', usual.slice(0, 30)],
  ['no type', usual.slice(0, -15)],
  ['half an extension', usual.slice(0, -3)],
  ['two extensions', withCounts('\0\x01\0\0\0\0\0\x02', usual + opt)],
  ['an extension among the answers', withCounts('\0\x01\0\x01\0\0\0\0')],
  [
    'an extension with a name',
    withCounts('\0\x01\0\0\0\0\0\x01', `${usual.slice(0, -11)}\x01a${opt}`),
  ],
  ['a pointer to itself', withCounts(bare, `${usual.slice(0, 12)}\xc0\x0c\0\x10\0\x01`)],
  [
    'a label of more than 63 bytes',
    withCounts(bare, `${usual.slice(0, 12)}\x40${'a'.repeat(64)}\0\0\x10\0\x01`),
  ],
  [
    'a name of more than 255 bytes',
    withCounts(
      '\0\x01\0\0\0\0\0\0',
      `${usual.slice(0, 12)}${`\x3f${'a'.repeat(63)}`.repeat(4)}\0\0\x10\0\x01`,
    ),
  ],
  ['a question about the extension', wire(question({ name: one, type: 'OPT' }))],
])('%s is answered as malformed', async (_, text) => {
  const answer = await ask(Buffer.from(text, 'latin1'));
  expect(read(answer).code).toBe(formErr);
  expect(answer.length).toBeLessThanOrEqual(Math.max(12, text.length));
});

test.each([
  ['an answer', `${usual.slice(0, 2)}\x80${usual.slice(3)}`],
  ['an answer that reports an error', `${usual.slice(0, 2)}\x80\x01${usual.slice(4)}`],
  ['less than a header', usual.slice(0, 11)],
  ['nothing', ''],
])('%s gets no answer at all', (_, text) => {
  const message = Buffer.from(text, 'latin1');
  expect(responder.overUdp(message, '192.0.2')).toBeUndefined();
  expect(responder.overTcp(message)).toBeUndefined();
});

test('every answer over UDP is at most five times as long as its question', async () => {
  const longest = `${`${'z'.repeat(62)}.`.repeat(2).slice(0, 110)}.acme.test`;
  for (const zone of [zoneName, 'a.b.cd', longest.slice(-120)]) {
    const here = newResponder({ zone });
    for (const label of ['', `${tokenOf(1)}.`, `${tokenOf(2)}.`, 'x.', 'a.b.', `${tokenOf(9)}.`]) {
      for (const type of ['SOA', 'NS', 'TXT', 'A', 'ANY', 'AXFR'])
        for (const additionals of [[], [edns()], [edns(65_535)]]) {
          const query = question({ name: label + zone, type, additionals });
          const answer = await here.overUdp(query, '192.0.2');
          expect(answer?.length ?? 0).toBeLessThanOrEqual(5 * query.length);
        }
    }
  }
});

// `make fuzz` sends a million.
const packets = 2000;
const chosen = 20_261_123;

test.each([
  ['with a fixed seed', chosen],
  ['with a new seed', randomInt(2 ** 31)],
])(
  'arbitrary packets %s, with the seed %i, get at most one answer of a limited size, and cause no error',
  async (_, seed) => {
    const { finding } = await fuzzPackets(seed, packets);
    expect({ seed, finding }).toEqual({ seed, finding: undefined });
  },
);

test('the arbitrary packets get every kind of answer', async () => {
  const { tally } = await fuzzPackets(chosen, packets);
  expect([...tally.codes.keys()].toSorted((a, b) => a - b)).toEqual([0, 1, 3, 4, 5]);
  expect(tally.truncated).toBeGreaterThan(0);
});
