import ipaddr from 'ipaddr.js';

export const isSameAddress = (one: string, other: string): boolean => isInNetwork(one, other);

/** @param network like `192.0.2.0/24`, or one address */
export const isInNetwork = (address: string, network: string): boolean => {
  const [base = '', prefix] = network.split('/');
  const [inside, outside] = [parsed(address), parsed(base)];
  if (inside?.kind() !== outside?.kind() || !inside || !outside) return false;
  return inside.match(outside, Number(prefix ?? outside.toByteArray().length * 8));
};

/** `0.0.0.0` and `::` mean any address of the machine itself; nothing reaches them from outside. */
export const isUnspecified = (address: string): boolean =>
  parsed(address)
    ?.toByteArray()
    .every((byte) => byte === 0) ?? false;

/** Characters: eight groups, the last two of them as an IPv4 address. */
const longestAddress = 45;

/** @returns undefined for what is no address, as with a zone: `fe80::1%eth0` */
const parsed = (text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined => {
  if (text.length > longestAddress || text.includes('%')) return undefined;
  // Parts are decimal, also after a zero: ipaddr.js would take `010` as octal.
  const decimal = text.replace(/(^|\.)0{1,2}(?=\d)/g, '$1');
  if (ipaddr.IPv4.isValidFourPartDecimal(decimal)) return ipaddr.IPv4.parse(decimal);
  return ipaddr.IPv6.isValid(text) ? ipaddr.IPv6.parse(text) : undefined;
};
