import type { Pen, PenOf } from './story.ts';
import { shopNames, shopOf, type ShopName } from './shops.ts';
import { mistakes } from './dns-edits.ts';
import { dayMs, hourMs, minuteMs } from './world/durations.ts';

interface Host {
  readonly shop: ShopName;
  readonly host: string;
  readonly zone: string;
}

export const planOwners = (penOf: PenOf, end: number): void => {
  for (const shop of shopNames) {
    const { hosts, zone } = shopOf(shop);
    for (const host of hosts) planHost(penOf('owner', shop, host), { shop, host, zone }, end);
    planCaa(penOf('caa', zone), shop, end);
    planAccount(penOf('account', shop), shop, end);
  }
};

type Deed = (pen: Pen, host: Host) => void;

/** The ways in which an owner creates the first records. */
const beginnings: readonly [Deed, ...Deed[]] = [
  (pen, { shop, host }) => {
    pen.wait(minuteMs, 2 * hourMs);
    pen.write(`${shop} publishes ${host}`);
  },
  (pen, { shop, host }) => {
    pen.wait(12 * hourMs, 3 * dayMs);
    pen.write(`${shop} publishes ${host}`);
  },
  (pen, { shop, host }) => {
    pen.wait(minuteMs, 2 * hourMs);
    pen.write(`${shop} proves ${host}`);
    pen.wait(minuteMs, dayMs);
    pen.write(`${shop} publishes ${host}`);
  },
  (pen, { shop, host }) => {
    pen.wait(minuteMs, 2 * hourMs);
    pen.write(`${shop} delegates ${host}`);
    pen.wait(10 * minuteMs, 2 * dayMs);
    pen.write(`${shop} publishes ${host}`);
  },
  (pen, { shop, host }) => {
    pen.wait(minuteMs, hourMs);
    pen.write(`${shop} mistakes ${host} ${pen.chance.pick(mistakes)}`);
    pen.wait(10 * minuteMs, 2 * dayMs);
    pen.write(`${shop} publishes ${host}`);
  },
];

const begin: Deed = (pen, host) => {
  const [usual] = beginnings;
  const start = pen.chance.happens(0.6) ? usual : pen.chance.pick(beginnings);
  start(pen, host);
  if (!pen.chance.happens(0.4)) return;
  pen.wait(minuteMs, hourMs);
  pen.write(`${host.shop} verifies ${host.host}`);
};

/** What owners do to a name later; they repair it after some time. */
const deeds: readonly [Deed, ...Deed[]] = [
  (pen, { shop, host }) => {
    pen.write(`${shop} mistakes ${host} ${pen.chance.pick(mistakes)}`);
    pen.wait(10 * minuteMs, 4 * dayMs);
    pen.write(`${shop} mends ${host}`);
  },
  (pen, { shop, host }) => {
    pen.write(`${shop} unpublishes ${host}`);
    pen.wait(10 * minuteMs, 2 * dayMs);
    pen.write(`${shop} mends ${host}`);
  },
  (pen, { shop, host }) => {
    pen.write(`${shop} publishes ${host} ${pen.chance.pick(['60', '300', '3600', '86400'])}`);
  },
  (pen, { shop, host }) => {
    pen.write(`${shop} delegates ${host}`);
  },
  (pen, { shop, host }) => {
    pen.write(`${shop} prefers ${host}`);
  },
  (pen, { shop, host }) => {
    pen.write(`${shop} verifies ${host}`);
  },
  (pen, host) => {
    pen.write(`${host.shop} removes ${host.host}`);
    pen.wait(1000, 2 * dayMs);
    pen.write(`${host.shop} adds ${host.host}`);
    begin(pen, host);
  },
];

/** The longest time before an owner checks that everything works. */
const longestBrokenMs = 6 * dayMs;

const planHost = (pen: Pen, host: Host, end: number): void => {
  const isRival = !host.host.endsWith(host.zone);
  if (isRival) pen.wait(dayMs, 12 * dayMs);
  else pen.wait(minuteMs, dayMs);
  pen.write(`${host.shop} adds ${host.host}`);
  begin(pen, host);
  while (pen.at < end) {
    pen.wait(isRival ? 2 * dayMs : 12 * hourMs, 8 * dayMs);
    const { chance } = pen;
    // The rival gives up, or the holder finds its name taken.
    if (isRival && chance.happens(0.5)) pen.write(`${host.shop} removes ${host.host}`);
    else if (chance.happens(0.2)) pen.write(`${host.shop} mends ${host.host}`);
    else chance.pick(deeds)(pen, host);
    if (!isRival && chance.happens(0.5)) {
      pen.wait(hourMs, longestBrokenMs);
      pen.write(`${host.shop} mends ${host.host}`);
    }
  }
};

const planCaa = (pen: Pen, shop: ShopName, end: number): void => {
  const { zone } = shopOf(shop);
  for (;;) {
    pen.wait(2 * dayMs, 20 * dayMs);
    if (pen.at >= end) return;
    pen.write(`${shop} allows ${zone} ${pen.chance.pick(['nobody', 'one', 'two'])}`);
    pen.wait(10 * minuteMs, 5 * dayMs);
    pen.write(`${shop} allows ${zone} anybody`);
  }
};

const business = [
  ...(['sells', 'sells', 'sells', 'bursts'] as const),
  ...(['deploys', 'rotates', 'turns', 'changes'] as const),
] as const;

const planAccount = (pen: Pen, shop: ShopName, end: number): void => {
  const { plan } = shopOf(shop);
  const { chance } = pen;
  for (;;) {
    pen.wait(hourMs, 3 * dayMs);
    if (pen.at >= end) return;
    const verb = chance.pick(business);
    if (verb === 'bursts') pen.write(`${shop} bursts ${String(150 + chance.int(250))}`);
    else if (verb !== 'changes') pen.write(`${shop} ${verb}`);
    else {
      pen.write(`${shop} takes ${chance.pick(['free', 'pro', 'business'])}`);
      pen.wait(10 * minuteMs, 3 * dayMs);
      pen.write(`${shop} takes ${plan}`);
    }
  }
};
