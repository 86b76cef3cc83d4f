import ipaddr from 'ipaddr.js';

/** How many characters of X-Forwarded-For we read: about twenty proxies. */
const longestForwarded = 1024;

/**
 * The trustworthy client address: our own peer, or what the trusted proxies report. Each proxy appends its peer's
 * address to X-Forwarded-For; a client can forge everything left of the trusted entries.
 * @param trusted how many proxies are in front of this process
 */
export const clientAddress = (
  peer: string,
  forwardedFor: string | undefined,
  trusted: number,
): string => {
  if (trusted === 0 || forwardedFor === undefined) return peer;
  // Reads only the end, which the trusted proxies write.
  const believed = forwardedFor.slice(-longestForwarded).split(',');
  const path = [...believed.map((part) => part.trim()), peer];
  const claimed = path[Math.max(0, path.length - 1 - trusted)] ?? peer;
  return ipaddr.isValid(claimed) ? claimed : peer;
};

/** The part of an address that shares one bucket: an IPv4 address, or a customer's /64 network of IPv6. */
export const addressBucket = (address: string): string => {
  if (plainIpv4.test(address)) return address;
  if (!ipaddr.isValid(address)) return 'unknown';
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  const network = [...parsed.toByteArray().slice(0, 8), ...new Array<number>(8).fill(0)];
  return `${ipaddr.fromByteArray(network).toString()}/64`;
};

/** Recognises the system's own notation, which needs no parsing. */
const plainIpv4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;
