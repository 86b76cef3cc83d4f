import { expect, test } from '@jest/globals';
import { decode, encode, type Answer, type Packet } from 'dns-packet';
import {
  failed,
  host,
  impatient,
  openInspections,
  target,
  timesAsked,
} from '../../lab/dns/inspection.ts';
import type { DnsFault } from '../../lab/dns/faults.ts';

const inspect = openInspections();

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

test('what a resolver says of its failure becomes short lines without control characters', async () => {
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

test('a name that does not exist is an answer too', async () => {
  failing({ raw: failsChecked((reply) => encode({ ...reply, flags: 3 }), []) });
  expect((await inspect.one(host)).unchecked).toEqual({ question: `CNAME ${host}`, errors: [] });
});

test.each<[what: string, fault: DnsFault]>([
  ['fails without checking too', { rcode: 'SERVFAIL' }],
  ['refuses without checking', { raw: failsChecked((r) => encode({ ...r, flags: 5 }), []) }],
  ['does not answer without checking', { raw: failsChecked(() => undefined, []) }],
  ['answers the second time', { rcode: 'SERVFAIL', times: 2 }],
])('a resolver that %s says nothing of DNSSEC', async (_, fault) => {
  failing(fault);
  expect(await inspect.one(host, impatient)).not.toHaveProperty('unchecked');
});

test('a resolver that has recovered by the time it answers without checking says nothing of DNSSEC', async () => {
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

test('it is only asked after SERVFAIL, and only about what the owner’s zones answer', async () => {
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

test('it takes no longer than the deadline of the report', async () => {
  failing({ raw: failsChecked(() => undefined, []) });
  const facts = await inspect.one(host, { deadlineMs: 300 });
  expect(facts.cname.kind).toBe('failed');
  expect(facts).not.toHaveProperty('unchecked');
});
