import { isInNetwork } from './ip-address.ts';

/**
 * Cloudflare's addresses, from https://www.cloudflare.com/ips/. Only its proxy answers from them. Fastly is
 * known by its names alone: other hosts' sites answer from its addresses too.
 */
const networks = [
  '173.245.48.0/20',
  '103.21.244.0/22',
  '103.22.200.0/22',
  '103.31.4.0/22',
  '141.101.64.0/18',
  '108.162.192.0/18',
  '190.93.240.0/20',
  '188.114.96.0/20',
  '197.234.240.0/22',
  '198.41.128.0/17',
  '162.158.0.0/15',
  '104.16.0.0/13',
  '104.24.0.0/14',
  '172.64.0.0/13',
  '131.0.72.0/22',
  '2400:cb00::/32',
  '2606:4700::/32',
  '2803:f800::/32',
  '2405:b500::/32',
  '2405:8100::/32',
  '2a06:98c0::/29',
  '2c0f:f248::/32',
];

const zones = ['cdn.cloudflare.net', 'fastly.net'];

export const isProxyAddress = (address: string): boolean =>
  networks.some((network) => isInNetwork(address, network));

export const isProxyName = (name: string): boolean =>
  zones.some((zone) => name.endsWith(`.${zone}`));
