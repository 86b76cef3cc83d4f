import { hash, randomUUID } from 'node:crypto';
import { writeSync } from 'node:fs';
import { headersOf, type Counted } from './bare-access.ts';

// ECMAScript's "JSON.parse source text access": in Node since 22, not yet in TypeScript's library.
declare global {
  interface JSON {
    rawJSON(text: string): unknown;
  }
}

/** An int64, digit for digit. */
export const exact = (value: bigint): unknown =>
  value <= Number.MAX_SAFE_INTEGER ? Number(value) : JSON.rawJSON(String(value));

const secret = randomUUID();

/** All headers of a list of ours: an id, the limits in both forms, and a link to the next page that nobody can forge. */
export const fullHeaders = (key: Counted, body: string, last: string): readonly string[] => {
  const cursor = `${last}.${hash('sha3-256', secret + key.accountId + last, 'base64url').slice(0, 22)}`;
  const left = Math.ceil(((key.minute + 1) * 60_000 - Date.now()) / 1000);
  return [
    ...['X-Request-Id', randomUUID(), 'X-Content-Type-Options', 'nosniff'],
    ...['Cache-Control', 'no-store', ...headersOf(key, body)],
    ...['RateLimit-Policy', '"minute";q=100000000;w=60, "day";q=1000000000;w=86400'],
    ...['RateLimit', `"minute";r=${String(100_000_000 - key.inMinute)};t=${String(left)}`],
    ...['Link', `<http://127.0.0.1/v1/pets?limit=20&cursor=${cursor}>; rel="next"`],
  ];
};

const buckets = [1, 2.5, 5, 10, 25, 50, 100, 250, 1000, 5000, Infinity];
const counted = buckets.map(() => 0);
let lines = '';

/** A line of the log, written in batches, and a histogram of times. */
export const record = (begun: number, requestId: string): void => {
  const ms = performance.now() - begun;
  const at = buckets.findIndex((limit) => ms <= limit);
  counted[at] = (counted[at] ?? 0) + 1;
  lines +=
    `{"level":30,"time":${String(Date.now())},"requestId":"${requestId}","method":"GET",` +
    `"path":"/v1/pets","status":200,"ms":${ms.toFixed(2)}}\n`;
  if (lines.length < 16_000) return;
  writeSync(1, lines);
  lines = '';
};
