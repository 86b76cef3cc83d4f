import { rareMistakes } from './dns-edits.ts';
import { workerNames } from './fleet.ts';
import type { Pen, PenOf } from './story.ts';
import { shopNames, shopOf, type ShopName } from './shops.ts';
import { dayMs, hourMs, minuteMs, secondMs } from './world/durations.ts';
import { authorityNames, service } from './world/world.ts';

/** Plans rare events that must still be handled correctly. Histories omit them, so that they stay quick to compare. */
export const planRare = (penOf: PenOf, end: number): void => {
  for (const shop of shopNames) {
    const { zone, hosts } = shopOf(shop);
    const own = hosts.filter((host) => host.endsWith(zone));
    planTypos(penOf('typos', shop), shop, end);
    planPeople(penOf('people', shop), shop, end);
    planConditions(penOf('caa conditions', shop), shop, end);
    for (const host of own) planSlips(penOf('slips', host), { shop, host }, end);
    if (own.length === 0) continue;
    planForgotten(penOf('forgotten', shop), shop);
    planHaste(penOf('haste', shop), shop, end);
    planPages(penOf('pages', shop), shop, end);
    planDenied(penOf('denied', shop), shop, end);
    planOthers(penOf('others', zone), zone, end);
    planDeletions(penOf('deletions', shop), shop, end);
    if (shopOf(shop).plan === 'business') planShelf(penOf('shelf', shop), shop, end);
  }
  planMuchUse(penOf('much use'), end);
  planGuests(penOf('guests'), end);
  planEnds(penOf('ends'), end);
  for (const name of authorityNames) planAuthority(penOf('rare', name), name, end);
  for (const name of workerNames) {
    planAsking(penOf('asking', name), name, end);
    planStalls(penOf('stalls', name), name, end);
  }
};

const refusedNames = [
  ...([service.platformHost, 'co.uk', '192.0.2.1', 'shop.*.example.com'] as const),
  `${'long'.repeat(16)}.test`,
] as const;

const planTypos = (pen: Pen, shop: ShopName, end: number): void => {
  for (;;) {
    pen.wait(dayMs, 12 * dayMs);
    if (pen.at >= end) return;
    pen.write(`${shop} adds ${pen.chance.pick(refusedNames)}`);
  }
};

const planPeople = (pen: Pen, shop: ShopName, end: number): void => {
  for (let count = 1; ; count += 1) {
    pen.wait(dayMs, 20 * dayMs);
    if (pen.at >= end) return;
    const colleague = `colleague-${String(count)}@${shopOf(shop).zone}`;
    pen.write(pen.chance.happens(0.5) ? `${shop} forgets` : `${shop} invites ${colleague}`);
  }
};

const planConditions = (pen: Pen, shop: ShopName, end: number): void => {
  const { zone } = shopOf(shop);
  for (;;) {
    pen.wait(2 * dayMs, 25 * dayMs);
    if (pen.at >= end) return;
    const condition = pen.chance.pick(['http-01', 'dns-01', 'ours', 'another']);
    pen.write(`${shop} allows ${zone} ${pen.chance.pick(['one', 'two'])}/${condition}`);
    pen.wait(hourMs, 6 * dayMs);
    pen.write(`${shop} allows ${zone} anybody`);
  }
};

interface Name {
  readonly shop: ShopName;
  readonly host: string;
}

const planSlips = (pen: Pen, { shop, host }: Name, end: number): void => {
  const its = host.startsWith('*.') ? (['delegation', 'delegation'] as const) : rareMistakes;
  for (;;) {
    pen.wait(2 * dayMs, 25 * dayMs);
    if (pen.at >= end) return;
    pen.write(`${shop} mistakes ${host} ${pen.chance.pick(its)}`);
    pen.wait(2 * hourMs, 2 * dayMs);
    pen.write(`${shop} mends ${host}`);
  }
};

const planForgotten = (pen: Pen, shop: ShopName): void => {
  pen.wait(hourMs, 8 * dayMs);
  pen.write(`${shop} adds old.${shopOf(shop).zone}`);
};

/** Adds and removes a name more often than the authority issues for one name, and often before it has issued. */
const planHaste = (pen: Pen, shop: ShopName, end: number): void => {
  const host = `quick.${shopOf(shop).zone}`;
  for (;;) {
    pen.wait(dayMs, 25 * dayMs);
    if (pen.at >= end) return;
    for (let times = 4 + pen.chance.int(4); times > 0; times -= 1) {
      pen.write(`${shop} adds ${host}`);
      pen.wait(10 * secondMs, minuteMs);
      pen.write(`${shop} publishes ${host}`);
      pen.wait(secondMs, 10 * secondMs);
      pen.write(`${shop} verifies ${host}`);
      if (pen.chance.happens(0.4)) pen.wait(secondMs, 12 * secondMs);
      else pen.wait(5 * minuteMs, hourMs);
      if (times === 1) pen.wait(dayMs, 9 * dayMs);
      pen.write(`${shop} removes ${host}`);
      pen.wait(minuteMs, 8 * hourMs);
    }
  }
};

/** Uses pages. A visitor who manages the DNS has a link. */
const planPages = (pen: Pen, shop: ShopName, end: number): void => {
  const host = `page.${shopOf(shop).zone}`;
  for (;;) {
    pen.wait(dayMs, 25 * dayMs);
    if (pen.at >= end) return;
    pen.write(`${shop} enters ${host}`);
    pen.wait(10 * secondMs, minuteMs);
    pen.write(`${shop} shares ${host}`);
    pen.write(`${shop} publishes ${host}`);
    for (let times = 3; times > 0; times -= 1) {
      pen.wait(minuteMs, 20 * dayMs);
      pen.write(`${shop} opens ${host}`);
    }
    pen.write(`${shop} drops ${host}`);
    pen.wait(secondMs, hourMs);
    pen.write(`${shop} opens ${host}`);
  }
};

const planDenied = (pen: Pen, shop: ShopName, end: number): void => {
  const host = `bank.${shopOf(shop).zone}`;
  pen.wait(dayMs, 40 * dayMs);
  if (pen.at >= end) return;
  const [first, second] = pen.chance.pick([['one'], ['two'], ['one', 'two']]);
  pen.write(`weather policy ${first} ${host}`);
  if (second !== undefined) pen.write(`weather policy ${second} ${host}`);
  pen.at += minuteMs;
  pen.write(`${shop} adds ${host}`);
  pen.at += minuteMs;
  pen.write(`${shop} publishes ${host}`);
  pen.wait(hourMs, 2 * dayMs);
  pen.write(`${shop} verifies ${host}`);
  pen.wait(dayMs, 20 * dayMs);
  pen.write(`${shop} removes ${host}`);
};

/** The owner has other servers, which get certificates for names in the same zone. */
const planOthers = (pen: Pen, zone: string, end: number): void => {
  for (;;) {
    pen.wait(dayMs, 30 * dayMs);
    if (pen.at >= end) return;
    pen.write(`weather others ${zone} 50`);
  }
};

/** Deletes by mistake, so a restoration follows in time. */
const planDeletions = (pen: Pen, shop: ShopName, end: number): void => {
  for (;;) {
    pen.wait(2 * dayMs, 30 * dayMs);
    if (pen.at >= end) return;
    pen.write(`${shop} deletes`);
    pen.wait(secondMs, 6 * dayMs);
    pen.write(`${shop} restores`);
  }
};

/** A guest leaves, or almost leaves. Another one wants its name and may prove it. */
const planEnds = (pen: Pen, end: number): void => {
  for (let guest = 101; ; guest += 2) {
    pen.wait(6 * hourMs, 12 * dayMs);
    if (pen.at >= end) return;
    const leaver: ShopName = `guest-${guest}`;
    const rival: ShopName = `guest-${guest + 1}`;
    const host = `www.guest-${String(guest)}.test`;
    pen.write(`${leaver} adds ${host}`);
    pen.wait(secondMs, 10 * minuteMs);
    pen.write(`${leaver} publishes ${host}`);
    pen.wait(secondMs, 2 * dayMs);
    const what = pen.chance.pick(['', ' account']);
    pen.write(`${leaver} deletes${what}`);
    pen.wait(hourMs, 8 * dayMs);
    pen.write(`${rival} adds ${host}`);
    if (pen.chance.happens(0.5)) pen.write(`${rival} publishes ${host}`);
    pen.wait(minuteMs, dayMs);
    pen.write(pen.chance.happens(0.5) ? `${leaver} restores${what}` : `${rival} verifies ${host}`);
  }
};

/** Uses up the day's requests of a small plan. */
const planMuchUse = (pen: Pen, end: number): void => {
  for (;;) {
    pen.wait(2 * dayMs, 30 * dayMs);
    if (pen.at >= end) return;
    pen.write('south takes free');
    for (let minutes = 0; minutes < 19; minutes += 1) {
      pen.at += minuteMs;
      pen.write('south bursts 58');
    }
    pen.wait(minuteMs, dayMs);
    pen.write('south takes pro');
  }
};

/** Adds more names in an hour than an account gets certificates for. */
const planShelf = (pen: Pen, shop: ShopName, end: number): void => {
  const hostOf = (n: string) => `shelf-${n}.${shopOf(shop).zone}`;
  for (;;) {
    pen.wait(dayMs, 20 * dayMs);
    if (pen.at >= end) return;
    addMany(pen, shop, { count: 13, hostOf, everyMs: 20 * secondMs });
  }
};

/** Adds many names at once, beyond the budgets. Only in longer stories, because each name costs time. */
const planGuests = (pen: Pen, end: number): void => {
  const { chance } = pen;
  if (end < 12 * dayMs || !chance.happens(0.4)) return;
  pen.jump(0.7 * end);
  chance.pick([planRush, planRush, planCollector, planCollector])(pen);
};

/** Opens many accounts within the window of the authority's limit for all of them. */
const planRush = (pen: Pen): void => {
  const start = pen.at;
  for (let guest = 1; guest <= 24; guest += 1) {
    pen.at = start + guest * 4 * minuteMs;
    const shop: ShopName = `guest-${guest}`;
    addMany(pen, shop, {
      count: 10,
      hostOf: (n) => `n${n}.${shopOf(shop).zone}`,
      everyMs: 5 * secondMs,
    });
  }
};

/** Gives one account many names, below one registered domain or below one each. */
const planCollector = (pen: Pen): void => {
  const isOneZone = pen.chance.happens(0.5);
  const hostOf = (n: string) => (isOneZone ? `n${n}.guest-1.test` : `www.guest-1-${n}.test`);
  addMany(pen, 'guest-1', { count: 53, hostOf, everyMs: 2 * minuteMs });
};

interface Many {
  readonly count: number;
  readonly hostOf: (n: string) => string;
  readonly everyMs: number;
}

/** All names are removed once the budgets were reached. */
const addMany = (pen: Pen, shop: ShopName, { count, hostOf, everyMs }: Many): void => {
  const hosts = Array.from({ length: count }, (_, n) => hostOf(String(n + 1)));
  for (const host of hosts) {
    pen.at += everyMs;
    pen.write(`${shop} adds ${host}`);
    pen.at += secondMs;
    pen.write(`${shop} publishes ${host}`);
  }
  const start = pen.at;
  for (const host of hosts) {
    pen.at = start;
    pen.wait(3 * hourMs, 8 * hourMs);
    pen.write(`${shop} removes ${host}`);
  }
};

/** The authority disappears just when it has an order, or requires new proofs sooner than before. */
const planAuthority = (pen: Pen, name: string, end: number): void => {
  if (pen.chance.happens(0.5)) {
    pen.jump(end);
    pen.write(`weather terms ${name} short`);
    pen.at = 0;
  }
  for (;;) {
    pen.wait(2 * dayMs, 20 * dayMs);
    if (pen.at >= end) return;
    pen.write(`weather authority ${name} leaving`);
    pen.wait(hourMs, 3 * dayMs);
    pen.write(`weather authority ${name} well`);
  }
};

const places = ['new-order', 'chall', 'finalize', 'order', 'cert'] as const;

const planAsking = (pen: Pen, name: string, end: number): void => {
  for (;;) {
    pen.wait(6 * hourMs, 6 * dayMs);
    if (pen.at >= end) return;
    const [verb, seconds] = pen.chance.happens(0.5) ? ['dies', 60] : ['stalls', stallS(pen)];
    pen.write(`${name} ${verb} asking ${pen.chance.pick(places)} ${String(seconds)}`);
  }
};

const planStalls = (pen: Pen, name: string, end: number): void => {
  for (;;) {
    pen.wait(6 * hourMs, 8 * dayMs);
    if (pen.at >= end) return;
    const commit = String(1 + pen.chance.int(pen.chance.pick([4, 40])));
    pen.write(`${name} stalls after ${commit} ${String(stallS(pen))}`);
  }
};

/** Most stalls last longer than leases, so that another worker continues. */
const stallS = ({ chance }: Pen): number => Math.round(30 * 120 ** chance.next());
