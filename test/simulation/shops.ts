import type { Plan } from '../../src/access/domain/quota.ts';

interface ShopTerms {
  readonly plan: Plan;
  readonly zone: string;
  readonly hosts: readonly string[];
}

const residents = {
  north: {
    plan: 'business',
    zone: 'north.test',
    hosts: ['www.north.test', 'north.test', '*.app.north.test'],
  },
  south: { plan: 'pro', zone: 'south.test', hosts: ['www.south.test', 'south.test'] },
  /** A rival for a name of the first shop. */
  east: { plan: 'pro', zone: 'east.test', hosts: ['www.north.test'] },
} as const satisfies Readonly<Record<string, ShopTerms>>;

/** Guests open their accounts with their first action. */
export type ShopName = keyof typeof residents | `guest-${number}`;

export const shopNames = Object.keys(residents) as readonly (keyof typeof residents)[];

export const shopOf = (name: ShopName): ShopTerms =>
  isResident(name) ? residents[name] : { plan: 'enterprise', zone: `${name}.test`, hosts: [] };

const isResident = (who: string): who is keyof typeof residents => Object.hasOwn(residents, who);

export const isShop = (who: string): who is ShopName => isResident(who) || /^guest-\d+$/.test(who);

export const ownerOf = (shop: ShopName): string => `owner@${shopOf(shop).zone}`;

export const receiverOf = (shop: ShopName): string => `https://hooks.${shopOf(shop).zone}/store`;

/** The registered domain that contains this name. */
export const zoneOf = (host: string): string => host.split('.').slice(-2).join('.');
