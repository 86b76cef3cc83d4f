import * as v from 'valibot';
import { plain, type SettingTable } from './setting.ts';
import { isIP, port } from './setting-schemas.ts';

const label = '[a-z0-9]([a-z0-9-]{0,59}[a-z0-9])?';

/** The zone that answers DNS challenges, and where it is asked for. */
export const nameserverSettings = {
  ACME_DNS_ZONE: plain(
    v.pipe(
      v.string(),
      v.toLowerCase(),
      v.maxLength(120, 'must have at most 120 characters'),
      v.regex(
        new RegExp(`^(${label}\\.){2,}${label}$`),
        'must be a name below a domain of yours, like acme.shop.example',
      ),
    ),
    undefined,
    '[zone](#setting-up-the-zone) that you delegate to this service, like `acme.shop.example`: it answers DNS challenges there. Not set: certificates are validated over HTTP only',
  ),
  DNS_HOST: plain(
    v.pipe(
      v.string(),
      v.check((text) => isIP(text) !== 0, 'must be an IP address'),
    ),
    '127.0.0.1',
    'IP address that the role `dns` listens on, over UDP and TCP',
  ),
  DNS_PORT: plain(port, '8053', 'port for the role `dns`; the world asks port 53'),
} satisfies SettingTable;
