import ipaddr from 'ipaddr.js';

/** What one asker can speak for at most: the /24 of an IPv4 address, the /56 of an IPv6 address. */
export const networkOf = (address: string): string => {
  if (/^\d{1,3}(\.\d{1,3}){3}$/.test(address)) return address.slice(0, address.lastIndexOf('.'));
  // The name of an interface may follow a link-local address.
  const [plain = ''] = address.split('%', 1);
  if (!ipaddr.isValid(plain)) return 'unknown';
  const bytes = ipaddr.process(plain).toByteArray();
  return bytes.slice(0, bytes.length === 4 ? 3 : 7).join('.');
};
