/** An address as bits, the same for all its spellings. */
interface Bits {
  readonly length: 32 | 128;
  readonly value: bigint;
}

export const isSameAddress = (one: string, other: string): boolean => isInNetwork(one, other);

/** @param network like `192.0.2.0/24`, or one address */
export const isInNetwork = (address: string, network: string): boolean => {
  const [base = '', prefix] = network.split('/');
  const [inside, outside] = [bitsOf(address), bitsOf(base)];
  if (inside?.length !== outside?.length || !inside || !outside) return false;
  const rest = BigInt(inside.length - Number(prefix ?? inside.length));
  return inside.value >> rest === outside.value >> rest;
};

/** `0.0.0.0` and `::` mean any address of the machine itself; nothing reaches them from outside. */
export const isUnspecified = (address: string): boolean => bitsOf(address)?.value === 0n;

/** Characters: eight groups, the last two of them as an IPv4 address. */
const longestAddress = 45;

/** @returns undefined for what is no address */
const bitsOf = (text: string): Bits | undefined => {
  if (text.length > longestAddress) return undefined;
  return text.includes(':') ? ipv6BitsOf(text) : ipv4BitsOf(text);
};

const ipv4BitsOf = (text: string): Bits | undefined => {
  const parts = text.split('.');
  if (parts.length !== 4 || !parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) < 256)) {
    return undefined;
  }
  return { length: 32, value: parts.reduce((value, part) => (value << 8n) | BigInt(part), 0n) };
};

/** RFC 4291, section 2.2. */
const ipv6BitsOf = (text: string): Bits | undefined => {
  const halves = text.split('::').map(groupsOf);
  const [left, right] = halves;
  if (!left || halves.length > 2 || halves.includes(undefined)) return undefined;
  const missing = 8 - left.length - (right?.length ?? 0);
  if (right ? missing < 1 : missing !== 0) return undefined;
  const groups = [...left, ...Array.from({ length: missing }, () => 0n), ...(right ?? [])];
  return { length: 128, value: groups.reduce((value, group) => (value << 16n) | group, 0n) };
};

/** The last one may be an IPv4 address. */
const groupsOf = (text: string): readonly bigint[] | undefined => {
  if (text === '') return [];
  const groups = text.split(':').flatMap((part) => {
    const { value } = ipv4BitsOf(part) ?? {};
    if (value !== undefined) return [value >> 16n, value & 0xffffn];
    return /^[0-9a-f]{1,4}$/i.test(part) ? [BigInt(`0x${part}`)] : [undefined];
  });
  return groups.every((group) => group !== undefined) ? groups : undefined;
};
