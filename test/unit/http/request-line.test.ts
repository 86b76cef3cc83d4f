import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import pino, { type LoggerOptions } from 'pino';
import { logRequest, type RequestLine } from '../../../src/adapters/http/request-line.ts';

const escaped = fc.array(fc.string()).map((parts) => `/${parts.map(encodeURIComponent).join('/')}`);

/** Up to the surrogates. All characters there are (`unit: 'binary'`) would take a second to list. */
const anyText = fc
  .array(fc.nat(0xd7_ff), { maxLength: 10 })
  .map((units) => String.fromCharCode(...units));

const line: fc.Arbitrary<RequestLine> = fc.record({
  requestId: fc.uuid(),
  method: fc.constantFrom('GET', 'POST', 'M-SEARCH'),
  path: fc.oneof(anyText, escaped, fc.constant('/"\\\n\u0000\ud800')),
  status: fc.constantFrom(200, 404, 503),
  ms: fc.integer({ min: 0, max: 1_000_000 }).map((hundredths) => hundredths / 100),
  keyId: fc.option(fc.constantFrom('key_1', 'key_"2"'), { nil: undefined }),
});

const writing = (
  level: string,
  base: Record<string, unknown> | null,
  others: LoggerOptions = {},
) => {
  const lines: string[] = [];
  const timestamp = () => ',"time":1795382648795';
  const options = { level, base, timestamp, ...others };
  return { lines, log: pino(options, { write: (one) => void lines.push(one) }) };
};

const traceId = 'c0ffee00c0ffee00c0ffee00c0ffee00';

test.each([
  [null, undefined],
  [{ pid: 7 }, undefined],
  [null, {}],
  [{ pid: 7 }, { traceId }],
])('a request is logged as pino would log it, with the base %j and the trace %j', (base, trace) => {
  const { lines, log } = writing('info', base, trace && { mixin: () => ({ ...trace }) });
  fc.assert(
    fc.property(line, (one) => {
      lines.length = 0;
      log.info(one);
      logRequest(log, one);
      expect(lines).toHaveLength(2);
      expect(lines[1]).toBe(lines[0]);
    }),
  );
});

test('no line is written below its level', () => {
  const { lines, log } = writing('warn', null);
  fc.assert(
    fc.property(line, (one) => {
      logRequest(log, one);
      expect(lines).toEqual([]);
    }),
  );
});
