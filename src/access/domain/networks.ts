import ipaddr from 'ipaddr.js';
import type { Limits } from './plan.ts';

/** A network, and how many times as much may come from it as from the narrowest one. */
export interface CountedNetwork {
  readonly name: string;
  readonly factor: number;
  /** Networks of this width take turns where not all can be served at once. */
  readonly takesTurns: boolean;
}

const widths = {
  ipv4: [
    { bits: 32, factor: 1, takesTurns: false },
    { bits: 24, factor: 8, takesTurns: true },
  ],
  // One customer has a /64, a /56 or a /48; one provider has a /32.
  ipv6: [
    { bits: 64, factor: 1, takesTurns: false },
    { bits: 56, factor: 2, takesTurns: false },
    { bits: 48, factor: 4, takesTurns: true },
    { bits: 32, factor: 40, takesTurns: false },
  ],
} as const;

/** @param network an IPv4 address, or the /64 network of an IPv6 address @returns the narrowest first */
export const networksAround = (network: string): readonly CountedNetwork[] => {
  const address = network.replace('/64', '');
  if (!ipaddr.isValid(address)) return [{ name: network, factor: 1, takesTurns: true }];
  const parsed = ipaddr.parse(address);
  return widths[parsed.kind()].map(({ bits, factor, takesTurns }) => ({
    name: factor === 1 ? network : nameOf(parsed, bits),
    ...{ factor, takesTurns },
  }));
};

const nameOf = (address: ipaddr.IPv4 | ipaddr.IPv6, bits: number): string => {
  const of = address.kind() === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6;
  const cidr = `${address.toString()}/${String(bits)}`;
  return `${of.networkAddressFromCIDR(cidr).toString()}/${String(bits)}`;
};

export const times = ({ perMinute, perDay }: Limits, factor: number): Limits => ({
  perMinute: factor * perMinute,
  perDay: factor * perDay,
});
