import { authorityNames } from '../world/world.ts';
import { inText, type Law } from './law.ts';
import { minuteMs } from '../world/durations.ts';

/** How long resolvers keep CAA records here: their TTL, and the minimum of the SOA records. */
const cachedMs = 5 * minuteMs;
/** A check precedes each order; slow name servers and other domains may delay both. */
const checkedMs = 30 * minuteMs;

export const caaIsObeyed: Law = {
  name: 'No order is asked for while CAA forbids it',
  onOrder: ({ authority, names }, { past, time }) => {
    const longAgo = time.now - cachedMs - checkedMs;
    if (past.wasBad('resolver', longAgo)) return undefined;
    for (const name of names) {
      const since = past.forbiddenSince(authority, name);
      if (since !== undefined && since < longAgo)
        return { authority, name, 'forbidden since': inText(since) };
    }
    return undefined;
  },
};

export const limitsAreKept: Law = {
  name: 'No limit of an authority is passed',
  afterStep: ({ world }) => {
    for (const authority of authorityNames) {
      const [overrun] = world.authorities[authority].over;
      if (overrun) return { authority, limit: overrun.limit, of: overrun.of };
    }
    return undefined;
  },
};
