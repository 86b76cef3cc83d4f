import { authorityNames } from '../world/world.ts';
import { caBudgets } from '../../../src/domains/domain/certificates/ca-budget.ts';
import { inText, toleratedSkewMs, type Law } from './law.ts';
import { hourMs, minuteMs } from '../world/durations.ts';

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

const newOrder = `
  select account_id as account from domains
  where host = ? and details ->> '$.certificate.kind' = 'wanted' and details ->> '$.certificate.work.step' = 'ordered'`;

/** The hour is shorter by as much as clocks of workers may differ. */
const shareMs = hourMs - 2 * toleratedSkewMs;

/** Orders are asked for by names, so the account is looked up when one is made. */
export const accountsHaveTheirShare = (): Law => {
  const { stopAt } = caBudgets.accountHour;
  const asked = new Map<string, number>();
  const madeAt = new Map<string, readonly number[]>();
  return {
    name: 'An account gets no more new certificates in an hour than its budget has',
    afterStep: ({ world, stored, time }) => {
      for (const authority of authorityNames) {
        const { orders } = world.authorities[authority];
        const known = asked.get(authority) ?? 0;
        if (known === orders.length) continue;
        asked.set(authority, orders.length);
        for (const { names } of orders.slice(known)) {
          const account = stored.first<{ account: string }>(newOrder, names[0] ?? '')?.account;
          if (account === undefined) continue;
          const key = `${authority} ${account}`;
          const lately = (madeAt.get(key) ?? []).filter((at) => at > time.now - shareMs);
          madeAt.set(key, [...lately, time.now]);
          if (lately.length >= stopAt) return { account, authority, orders: lately.length + 1 };
        }
      }
      return undefined;
    },
  };
};

const made = 'select subject from certificate_orders where url is not null';
const madeFor = `${made} and host = ?`;
const unmadeFor = 'select 1 from certificate_orders where url is null and host = ?';

/** A worker that stalled may still ask when another one already has. */
const latestMs = 2 * hourMs;

/** A worker that dies leaves to the next one only what it stored. */
export const ordersGoOn = (): Law => {
  let madeSince = new Map<string, number>();
  return {
    name: 'An order that an authority has made is continued, and not asked for again',
    tables: ['certificate_orders'],
    afterCommit: ({ stored, time }) => {
      const subjects = stored.rows<{ subject: string }>(made).map(({ subject }) => subject);
      madeSince = new Map(subjects.map((one) => [one, madeSince.get(one) ?? time.now]));
      return undefined;
    },
    onOrder: ({ authority, names: [name = ''] }, { stored, time }) => {
      if (stored.has(unmadeFor, name)) return undefined;
      for (const { subject } of stored.rows<{ subject: string }>(madeFor, name)) {
        const since = madeSince.get(subject) ?? time.now;
        if (since < time.now - latestMs) return { authority, name, 'made at': inText(since) };
      }
      return undefined;
    },
  };
};
