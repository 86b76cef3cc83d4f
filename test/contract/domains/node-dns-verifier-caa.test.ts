import { expect, test } from '@jest/globals';
import { decode, encode, type Answer, type Packet } from 'dns-packet';
import type { CaaLevel } from '../../../src/domains/domain/dns/facts.ts';
import type { DnsFault } from '../../lab/dns/sockets.ts';
import {
  absent,
  address,
  failed,
  host,
  impatient,
  none,
  openInspections,
  records,
  target,
  timesAsked,
} from '../../lab/dns/inspection.ts';

const inspect = openInspections();

const caaOf = async (name = host): Promise<readonly CaaLevel[]> => (await inspect.one(name)).caa;
const ours = { flags: 0, tag: 'issue', value: 'ca.test' };
const other = { flags: 0, tag: 'issue', value: 'other.test' };

test.each([
  [host, [{ name: host, answer: records(ours) }]],
  [
    'customer.test',
    [
      { name: host, answer: none },
      { name: 'customer.test', answer: records(ours) },
    ],
  ],
  [
    'test',
    [
      { name: host, answer: none },
      { name: 'customer.test', answer: none },
      { name: 'test', answer: records(ours) },
    ],
  ],
])('the search for CAA stops at %s', async (name, levels) => {
  inspect.dns.setZone({ [host]: { A: [address] }, [name]: { CAA: [ours] } });
  expect(await caaOf()).toEqual(levels);
});

test('if no level has CAA records, every level up to the top-level domain is reported', async () => {
  inspect.dns.setZone({ 'customer.test': { A: [address] } });
  expect(await caaOf()).toEqual([
    { name: host, answer: absent },
    { name: 'customer.test', answer: none },
    { name: 'test', answer: none },
  ]);
});

test('the closest level with records decides, whatever its parents say', async () => {
  inspect.dns.setZone({ [host]: { CAA: [other] }, 'customer.test': { CAA: [ours] } });
  expect(await caaOf()).toEqual([{ name: host, answer: records(other) }]);
});

test('the search stops at a level that fails', async () => {
  inspect.dns.setZone({ [host]: { A: [address] }, test: { CAA: [ours] } });
  inspect.dns.setFaults({ 'customer.test': { rcode: 'SERVFAIL', types: ['CAA'] } });
  expect(await caaOf()).toEqual([
    { name: host, answer: none },
    { name: 'customer.test', answer: failed('servfail') },
  ]);
});

test('lookups above the deciding level are not awaited', async () => {
  inspect.dns.setZone({ [host]: { CAA: [ours] } });
  const silent = { drop: true, types: ['CAA'] } as const;
  inspect.dns.setFaults({ test: silent, 'customer.test': silent });
  // Waiting for those lookups would take longer than any test may.
  expect(await caaOf()).toEqual([{ name: host, answer: records(ours) }]);
});

test("CAA records at the target of a CNAME count for the host, and records at the target's parents do not", async () => {
  const zone = { [host]: { CNAME: [target] }, 'platform.test': { CAA: [other] } };
  inspect.dns.setZone({ ...zone, [target]: { A: [address], CAA: [ours] } });
  expect(await caaOf()).toEqual([{ name: host, answer: records(ours) }]);
  inspect.dns.setZone({ ...zone, [target]: { A: [address] }, test: { CAA: [ours] } });
  expect(await caaOf()).toEqual([
    { name: host, answer: none },
    { name: 'customer.test', answer: none },
    { name: 'test', answer: records(ours) },
  ]);
  expect(timesAsked(inspect.dns, 'platform.test', 'CAA')).toBe(0);
});

test('a parent that is a CNAME is followed too', async () => {
  inspect.dns.setZone({
    [host]: { A: [address] },
    'customer.test': { CNAME: ['brand.test'] },
    'brand.test': { CAA: [ours] },
  });
  expect((await caaOf()).at(-1)).toEqual({ name: 'customer.test', answer: records(ours) });
});

test('records are returned byte for byte, even those that node:dns cannot return', async () => {
  const odd = [
    { flags: 0, tag: 'issue', value: '' },
    { flags: 0, tag: 'issuewild', value: ';' },
    { flags: 128, tag: 'critical', value: '0' },
    { flags: 1, tag: 'tbs', value: 'unknown' },
    { flags: 255, tag: 'tbs', value: 'unknown' },
    { flags: 0, tag: 'ISSUE', value: ' Ca.Test ; validationmethods=http-01' },
    { flags: 0, tag: 'iodef', value: 'mailto:a\0b@customer.test' },
    { flags: 0, tag: 'contactemail', value: 'bücher@customer.test' },
  ];
  inspect.dns.setZone({ [host]: { CAA: odd, TTL: 77 } });
  const answer = { kind: 'records', records: odd, ttl: 77 };
  expect(await caaOf()).toEqual([{ name: host, answer }]);
});

test('CAA records too large for one datagram are read over TCP', async () => {
  const many = Array.from({ length: 40 }, (_, n) => ({ ...other, value: `ca-${n}.other.test` }));
  inspect.dns.setZone({ [host]: { CAA: many } });
  expect(await caaOf()).toEqual([{ name: host, answer: records(...many) }]);
  const transports = inspect.dns.log.flatMap((query) =>
    query.name === host && query.type === 'CAA' ? [query.transport] : [],
  );
  expect(transports).toEqual(['udp', 'tcp']);
});

test.each([
  ['is empty', []],
  ['has no tag', [0, 0]],
  ['has a tag that is longer than the record', [0, 9, 0x69, 0x73, 0x73, 0x75, 0x65]],
])('a record that %s makes the answer unusable, as it does for authorities', async (_, data) => {
  inspect.dns.setZone({ [host]: { CAA: [new Uint8Array(data)] } });
  expect(await caaOf()).toEqual([{ name: host, answer: failed('malformed') }]);
});

test.each(['shop..customer.test', `${'x'.repeat(64)}.customer.test`, 'y.'.repeat(126) + 'test'])(
  'a name that cannot be queried is malformed: %s',
  async (name) => {
    expect(await caaOf(name)).toEqual([{ name, answer: failed('malformed') }]);
  },
);

const isUnchecked = (query: Buffer): boolean => (query.readUInt8(3) & 0x10) !== 0;

/** A resolver that fails with these extended errors unless checking is disabled. */
const failsChecked =
  (unchecked: (reply: Packet) => Buffer | undefined, errors: readonly Uint8Array[]) =>
  (query: Buffer): Buffer | undefined => {
    const { id = 0, questions = [] } = decode(query);
    const reply: Packet = { id, type: 'response', questions };
    if (isUnchecked(query)) return unchecked(reply);
    const options = errors.map((data) => ({ code: 15, data: Buffer.from(data) }));
    const extension = { type: 'OPT', name: '.', udpPayloadSize: 1232, flags: 0, options };
    return encode({ ...reply, flags: 2, additionals: [extension as unknown as Answer] });
  };

const extendedError = (code: number, text: string): Uint8Array =>
  Buffer.concat([Buffer.from([code >> 8, code & 0xff]), Buffer.from(text)]);

const failing = (fault: DnsFault): void => {
  inspect.dns.setFaults({ [host]: { types: ['CNAME'], ...fault } });
};

test('the error texts of a resolver become short lines without control characters', async () => {
  const errors = [
    extendedError(9, ' no key\u0000\u001b[31m\n\u202eturned \u2066'),
    extendedError(6, 'x'.repeat(900)),
    Buffer.from([0, 7]),
    Buffer.from([0]),
    Buffer.from([0, 0, 0xff, 0xfe]),
  ];
  failing({ raw: failsChecked((reply) => encode(reply), errors) });
  const { cname, unchecked } = await inspect.one(host);
  expect(cname).toEqual(failed('servfail'));
  expect(unchecked).toEqual({
    question: `CNAME ${host}`,
    errors: [
      { code: 9, text: 'no key [31m turned' },
      { code: 6, text: 'x'.repeat(160) },
      { code: 7, text: '' },
      { code: 0, text: '\ufffd\ufffd' },
    ],
  });
});

test('the answer that a name does not exist counts as an answer', async () => {
  failing({ raw: failsChecked((reply) => encode({ ...reply, flags: 3 }), []) });
  expect((await inspect.one(host)).unchecked).toEqual({ question: `CNAME ${host}`, errors: [] });
});

test.each<[what: string, fault: DnsFault]>([
  ['also fails without checking', { rcode: 'SERVFAIL' }],
  ['refuses without checking', { raw: failsChecked((r) => encode({ ...r, flags: 5 }), []) }],
  ['does not answer without checking', { raw: failsChecked(() => undefined, []) }],
  ['answers at the second attempt', { rcode: 'SERVFAIL', times: 2 }],
])('a resolver that %s reveals nothing about DNSSEC', async (_, fault) => {
  failing(fault);
  expect(await inspect.one(host, impatient)).not.toHaveProperty('unchecked');
});

test('a resolver that recovers before the unchecked query reveals nothing about DNSSEC', async () => {
  let isWell = false;
  const recovers = failsChecked((reply) => {
    isWell = true;
    return encode(reply);
  }, []);
  const raw = (query: Buffer) => {
    const { id = 0, questions = [] } = decode(query);
    return isWell ? encode({ id, type: 'response', questions }) : recovers(query);
  };
  failing({ raw });
  const { cname, unchecked } = await inspect.one(host);
  expect([cname, unchecked, isWell]).toEqual([failed('servfail'), undefined, true]);
});

test('the unchecked query is sent only after SERVFAIL, and only for names in the owner’s zones', async () => {
  const raw = failsChecked((reply) => encode(reply), []);
  inspect.dns.setFaults({ [target]: { raw } });
  expect(await inspect.one(host)).not.toHaveProperty('unchecked');
  expect(timesAsked(inspect.dns, host, 'CNAME')).toBe(1);
  inspect.dns.setFaults({ [host]: { types: ['CAA', 'A', 'AAAA'], raw } });
  expect(await inspect.one(host)).not.toHaveProperty('unchecked');
  inspect.dns.setFaults({ 'customer.test': { types: ['CAA'], raw } });
  const { unchecked } = await inspect.one(host);
  expect(unchecked?.question).toBe('CAA customer.test');
});

test('the unchecked query takes no longer than the deadline of the report', async () => {
  failing({ raw: failsChecked(() => undefined, []) });
  const facts = await inspect.one(host, { deadlineMs: 300 });
  expect(facts.cname.kind).toBe('failed');
  expect(facts).not.toHaveProperty('unchecked');
});
