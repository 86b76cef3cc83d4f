import ipaddr from 'ipaddr.js';

/** Characters of X-Forwarded-For that are read: some twenty proxies. */
const longestForwarded = 1024;

/**
 * Who sent a request, as far as it can be believed: our own peer, or what the trusted proxies before us say.
 * Each proxy appends the address of its peer to X-Forwarded-For; what lies left of the trusted ones anybody can
 * make up.
 * @param trusted how many proxies stand before this process
 */
export const clientAddress = (
  peer: string,
  forwardedFor: string | undefined,
  trusted: number,
): string => {
  if (trusted === 0 || forwardedFor === undefined) return peer;
  // Only its end counts, where the trusted proxies write.
  const believed = forwardedFor.slice(-longestForwarded).split(',');
  const path = [...believed.map((part) => part.trim()), peer];
  const claimed = path[Math.max(0, path.length - 1 - trusted)] ?? peer;
  return ipaddr.isValid(claimed) ? claimed : peer;
};

/** What shares one bucket: an IPv4 address, or the /64 network of an IPv6 address (one customer's). */
export const addressBucket = (address: string): string => {
  if (!ipaddr.isValid(address)) return 'unknown';
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  const network = [...parsed.toByteArray().slice(0, 8), ...new Array<number>(8).fill(0)];
  return `${ipaddr.fromByteArray(network).toString()}/64`;
};
