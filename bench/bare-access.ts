import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const [minuteMs, dayMs] = [60_000, 86_400_000];
const limits = { minute: 100_000_000, day: 1_000_000_000 };

/** A key, and how often it was used in the current minute and day. */
export interface Counted {
  readonly accountId: string;
  minute: number;
  day: number;
  inMinute: number;
  inDay: number;
}

/** What the bare servers share: keys are looked up by their hash, and counted by minute and day. */
export const bareAccess = (keys: Readonly<Record<string, string>>) => {
  const known = new Map(
    Object.entries(keys).map(([secret, accountId]): [string, Counted] => [
      hash('sha256', secret),
      { accountId, minute: 0, day: 0, inMinute: 0, inDay: 0 },
    ]),
  );
  /** @returns the key's counts with this request, or undefined if it is refused */
  return ({ headers: { authorization = '' } }: IncomingMessage): Counted | undefined => {
    if (!authorization.startsWith('Bearer ')) return undefined;
    const key = known.get(hash('sha256', authorization.slice(7)));
    if (key) count(key, Date.now());
    return key && key.inMinute <= limits.minute && key.inDay <= limits.day ? key : undefined;
  };
};

const count = (key: Counted, now: number): void => {
  const [minute, day] = [Math.floor(now / minuteMs), Math.floor(now / dayMs)];
  if (key.minute !== minute) [key.minute, key.inMinute] = [minute, 0];
  if (key.day !== day) [key.day, key.inDay] = [day, 0];
  key.inMinute += 1;
  key.inDay += 1;
};

/** The three headers of a limit, and those of a JSON body. */
export const headersOf = ({ minute, inMinute }: Counted, body: string): readonly string[] => [
  'Content-Type',
  'application/json; charset=utf-8',
  'Content-Length',
  String(Buffer.byteLength(body)),
  'X-RateLimit-Limit',
  String(limits.minute),
  'X-RateLimit-Remaining',
  String(limits.minute - inMinute),
  'X-RateLimit-Reset',
  String(((minute + 1) * minuteMs) / 1000),
];
