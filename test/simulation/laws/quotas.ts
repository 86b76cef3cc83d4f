import { limitsOf, type Plan } from '../../../src/access/domain/quota.ts';
import { shopOf, type ShopName } from '../shops.ts';
import type { Burst } from '../owners.ts';
import type { Facts, Law, Seen } from './law.ts';
import { dayMs, minuteMs, secondMs } from '../world/durations.ts';

const answeredMs = 10 * secondMs;

/** Judges a burst together with the shop's other requests in the same minute. */
export const quotasHold = (): Law => {
  let asked = 0;
  let known = 0;
  /** When each account was seen to use its API apart from bursts. */
  const uses: { readonly shop: ShopName; readonly at: number }[] = [];
  return {
    name: 'Of N + k requests in a minute, N are answered',
    afterStep: (seen) => {
      const { acknowledged, bursts } = seen.owners;
      for (; known < acknowledged.length; known += 1) {
        const write = acknowledged[known];
        if (write?.kind === 'pet') uses.push({ shop: write.shop, at: seen.time.now });
      }
      const burst = bursts[asked];
      if (!burst) return undefined;
      asked += 1;
      const earlier = bursts.slice(0, asked - 1);
      return judgedBurst(burst, { uses, earlier }, seen);
    },
  };
};

interface Besides {
  readonly uses: readonly { readonly shop: ShopName; readonly at: number }[];
  readonly earlier: readonly Burst[];
}

const judgedBurst = (
  { shop, at, answers }: Burst,
  { uses, earlier }: Besides,
  { past, fleet, stored, owners }: Seen,
): Facts | undefined => {
  const skew = fleet.get('api')?.actor.clockAheadMs ?? 0;
  const minute = Math.floor((at + skew) / minuteMs);
  const isWithin = (at + skew) % minuteMs < minuteMs - answeredMs;
  // By the clock of the API, as the times that it stores.
  const beginThere = minute * minuteMs;
  const begin = beginThere - skew;
  const since = past.upSince('api');
  if (!isWithin || since === undefined || since > begin) return undefined;
  const account = owners.shops.get(shop)?.accountId ?? '';
  const of = stored.first<{ plan: Plan }>('select plan from accounts where id = ?', account);
  const changed = `select 1 from events where account_id = ? and type = 'plan_changed' and occurred_at > ?`;
  if (!of || stored.has(changed, account, beginThere - minuteMs)) return undefined;
  const { perMinute: most, perDay } = limitsOf(of.plan, undefined);
  const isInMinute = (one: { readonly shop: ShopName; readonly at: number }) =>
    one.shop === shop && one.at >= begin;
  const before = earlier.filter(isInMinute).reduce((sum, one) => sum + passed(one.answers), 0);
  const besides = uses.filter(isInMinute).length + before;
  const answered = passed(answers);
  const today = Math.floor((at + skew) / dayMs) * dayMs - skew;
  const isToday = (one: { readonly shop: ShopName; readonly at: number }) =>
    one.shop === shop && one.at >= today;
  const usedToday =
    uses.filter(isToday).length +
    earlier.filter(isToday).reduce((sum, one) => sum + passed(one.answers), 0);
  const facts = { zone: shopOf(shop).zone, limit: most, asked: answers.length, answered, besides };
  if (answered > most - before) return facts;
  const banned = 'select 1 from api_keys where account_id = ? and ban_until > ?';
  const isDayUsedUp = usedToday + answers.length > perDay;
  if (before > 0 || isDayUsedUp || stored.has(banned, account, beginThere)) return undefined;
  return answered < Math.min(most, answers.length) - besides ? facts : undefined;
};

const passed = (answers: Burst['answers']): number =>
  answers.filter(({ status }) => status !== 429).length;
