import * as v from 'valibot';
import { plain, type SettingTable } from './setting.ts';
import { addressToListenOn, addresses, port, portOrAny, limit } from './setting-schemas.ts';

/** Where sites are served, and what a process takes on. */
export const sitesSettings = {
  EDGE_HOST: plain(
    addressToListenOn,
    '127.0.0.1',
    'address that the [edge](#edge) listens on; `0.0.0.0` or `::` for all interfaces',
  ),
  EDGE_HTTP_PORT: plain(
    portOrAny,
    '8080',
    'port for HTTP; 0 picks a free one, which the log shows',
  ),
  EDGE_HTTPS_PORT: plain(portOrAny, '8443', 'port for HTTPS; 0 picks a free one'),
  EDGE_PUBLIC_PORT: plain(
    port,
    undefined,
    'HTTPS port that visitors use, if it is not `EDGE_HTTPS_PORT`: 443 behind a load balancer or a port redirect. Used in the site addresses we show',
  ),
  PLATFORM_HOST: plain(
    v.pipe(
      v.string(),
      v.toLowerCase(),
      v.maxLength(189, 'must have at most 189 characters'),
      v.regex(
        /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/,
        'must be a host name with a dot in it, like sites.shop.example',
      ),
    ),
    'sites.animal-store.test',
    'zone of the project hosts: `<slug>.sites.animal-store.test`; see [names](#names). Must not be the host of `PUBLIC_URL` or a parent of it',
  ),
  PLATFORM_ADDRESSES: plain(
    addresses,
    undefined,
    "the edges' public IP addresses, IPv4 and IPv6, comma-separated. An apex domain must resolve to exactly these. Not set: `EDGE_HOST`, or the loopback address",
  ),
  PLATFORM_CERTIFICATE_FILE: plain(
    v.string(),
    undefined,
    "PEM file with [your own certificate](#the-platforms-certificate) for `PLATFORM_HOST` and all names below it, and its intermediates. Not set: we order one ourselves, or one for each project's host",
  ),
  PLATFORM_KEY_FILE: plain(
    v.string(),
    undefined,
    'PEM file with the private key of that certificate; set both or neither',
  ),
  ENTERPRISE_DOMAIN_LIMIT: plain(limit, '1000', 'custom domains per account on plan `enterprise`'),
  ENTERPRISE_PROJECT_LIMIT: plain(limit, '1000', 'projects per account on plan `enterprise`'),
  ENTERPRISE_STORAGE_GIB: plain(
    limit,
    '1000',
    'GiB of unpacked files per account on plan `enterprise`',
  ),
  DRAIN_SECONDS: plain(
    v.pipe(
      v.string(),
      v.regex(/^\d{1,4}$/, 'must be a whole number of seconds from 0 to 3600'),
      v.transform(Number),
      v.maxValue(3600, 'must be a whole number of seconds from 0 to 3600'),
    ),
    '0',
    'how long `/readyz` answers 503 before the process stops [listening](#stopping); use 5 behind a load balancer',
  ),
  ALLOW_TEST_DOMAINS: plain(
    v.pipe(
      v.picklist(['0', '1'], 'must be 0 or 1'),
      v.transform((text) => text === '1'),
    ),
    '0',
    '1 allows custom domains below `.test` and, outside production, [webhooks](webhooks.md) to this machine',
  ),
} satisfies SettingTable;
