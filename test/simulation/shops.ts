/** The accounts of a simulated store, and the names that each wants to attach. */
export const shops = {
  north: {
    plan: 'business',
    zone: 'north.test',
    hosts: ['www.north.test', 'north.test', '*.app.north.test'],
  },
  south: { plan: 'pro', zone: 'south.test', hosts: ['www.south.test', 'south.test'] },
  /** A rival for a name of the first one. */
  east: { plan: 'pro', zone: 'east.test', hosts: ['www.north.test'] },
} as const;

export type ShopName = keyof typeof shops;

export const shopNames = Object.keys(shops) as readonly ShopName[];

export const isShop = (who: string): who is ShopName => Object.hasOwn(shops, who);

export const ownerOf = (shop: ShopName): string => `owner@${shops[shop].zone}`;

export const receiverOf = (shop: ShopName): string => `https://hooks.${shops[shop].zone}/store`;
