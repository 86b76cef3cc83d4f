import { authorityNames, type AuthorityName } from '../world/world.ts';
import { caBudgets } from '../../../src/domains/domain/certificates/ca-budget.ts';
import { inText, toleratedSkewMs, type Law, type Seen } from './law.ts';
import { dayMs, hourMs, minuteMs } from '../world/durations.ts';

/** How long resolvers keep CAA records here. It is their TTL and the minimum of the SOA records. */
const cachedMs = 5 * minuteMs;
/** A check precedes each order. Slow name servers and other domains may delay both. */
const checkedMs = 30 * minuteMs;

export const caaIsObeyed: Law = {
  name: 'No order is requested while CAA forbids it',
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
  name: 'No limit of an authority is exceeded',
  afterStep: ({ world }) => {
    for (const authority of authorityNames) {
      const [overrun] = world.authorities[authority].over;
      if (overrun) return { authority, limit: overrun.limit, of: overrun.of };
    }
    return undefined;
  },
};

/** A stalled worker may still order after another one has. */
const latestMs = 2 * hourMs;

const newOrder = `
  select account_id as account from domains
  where host = ? and details ->> '$.certificate.kind' = 'wanted' and details ->> '$.certificate.work.step' = 'ordered'`;

/** The hour is shortened by the tolerated difference between workers' clocks. */
const shareMs = hourMs - 2 * toleratedSkewMs;

/** Orders contain only names, so the account is looked up when an order is made. */
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

const counted = `
  select count(*) as orders from authority_ledger
  where authority = ? and host = ? and kind in ('order', 'renewal') and occurred_at > ?`;

/** The ledger keeps entries longer than this. */
const comparedMs = 3 * dayMs;

/** Repeated orders count again. Orders that the authority exempts need no count. */
export const ordersAreCounted = (): Law => {
  const asked = new Map<string, number>();
  const grantedAt = new Map<string, readonly number[]>();
  const uncounted = (authority: AuthorityName, host: string, { time, stored }: Seen) => {
    const since = time.now - comparedMs;
    const key = `${authority} ${host}`;
    const lately = [...(grantedAt.get(key) ?? []).filter((at) => at > since), time.now];
    grantedAt.set(key, lately);
    // A worker may have stalled, or its clock may be wrong.
    const from = Math.floor(since - latestMs);
    const its = [`acme.${authority}.example`, host, from] as const;
    const { orders = 0 } = stored.first<{ orders: number }>(counted, ...its) ?? {};
    return lately.length > orders
      ? { authority, host, granted: lately.length, counted: orders }
      : undefined;
  };
  return {
    name: 'Each order that an authority accepts was counted before',
    afterStep: (seen) => {
      for (const authority of authorityNames) {
        const { granted, weather } = seen.world.authorities[authority];
        const known = asked.get(authority) ?? 0;
        asked.set(authority, granted.length);
        // A request that the network duplicates was sent only once.
        if (known === granted.length || weather.repeats > 0) continue;
        const counting = granted.slice(known).filter(({ isExempt }) => !isExempt);
        const [first] = counting.flatMap(
          ({ names: [host = ''] }) => uncounted(authority, host, seen) ?? [],
        );
        if (first) return first;
      }
      return undefined;
    },
  };
};

const made = 'select subject from certificate_orders where url is not null';
const madeFor = `${made} and host = ?`;
const unmadeFor = 'select 1 from certificate_orders where url is null and host = ?';

/** When a worker dies, the next one has only what was stored. */
export const ordersGoOn = (): Law => {
  let madeSince = new Map<string, number>();
  return {
    name: 'An order that an authority has created is continued and not requested again',
    tables: ['certificate_orders'],
    afterCommit: ({ stored, time }) => {
      const subjects = stored.rows<{ subject: string }>(made).map(({ subject }) => subject);
      madeSince = new Map(subjects.map((one) => [one, madeSince.get(one) ?? time.now]));
      // Two orders for one name differ only in the attempt at the end of the subject.
      const keys = subjects.map((one) => one.slice(0, one.lastIndexOf(':')));
      const twice = keys.find((key, at) => keys.indexOf(key) < at);
      return twice === undefined ? undefined : { 'two orders of': twice };
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
