/** The accounts of a simulated store, and the names that each wants to attach. */
export const shops = {
  north: { plan: 'business', zone: 'north.example', hosts: ['www.north.example', 'north.example', '*.app.north.example'] },
  south: { plan: 'pro', zone: 'south.example', hosts: ['www.south.example', 'south.example'] },
  /** A rival for a name of the first one. */
  east: { plan: 'pro', zone: 'east.example', hosts: ['www.north.example'] },
} as const;

export type ShopName = keyof typeof shops;

export const shopNames = Object.keys(shops) as readonly ShopName[];

export const isShop = (who: string): who is ShopName => Object.hasOwn(shops, who);

export const ownerOf = (shop: ShopName): string => `owner@${shops[shop].zone}`;

export const receiverOf = (shop: ShopName): string => `https://hooks.${shops[shop].zone}/store`;
