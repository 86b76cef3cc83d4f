import * as v from 'valibot';
import { readRedisAddress } from '../../adapters/redis/redis-address.ts';
import { derived, plain, secret, type SettingTable } from './setting.ts';
import { list, processCount, secretText } from './setting-schemas.ts';

const roles = ['api', 'dashboard', 'edge', 'worker', 'dns'] as const;

type Role = (typeof roles)[number];

/** All that have something to do. */
export const usualRoles = (acmeDnsZone: string | undefined): readonly Role[] =>
  roles.filter((role) => role !== 'dns' || acmeDnsZone !== undefined);

/** What this process does, and for whom. */
export const processSettings = {
  ROLES: derived(
    v.pipe(
      v.string(),
      v.transform(list),
      v.check((parts) => parts.length > 0, `must name at least one of ${roles.join(', ')}`),
      v.array(
        v.picklist(
          roles,
          ({ received }) => `must be a list of ${roles.join(', ')}; it contains ${received}`,
        ),
      ),
    ),
    usualRoles(undefined).join(','),
    'roles of this process; see [roles](#several-processes-and-roles). With `ACME_DNS_ZONE`, also `dns`',
  ),
  PROCESSES: plain(
    processCount,
    '1',
    'number of processes on these ports, or `auto`: one for each core; see [all cores](#all-cores)',
  ),
  SECRET_KEY: secret(
    secretText,
    'at least 32 characters; signs cursors and encrypts private keys. Not set: `secret.key` in `DATA_DIR`, created at the first start with mode 0600. [Do not lose it](#backups)',
  ),
  SECRET_KEY_PREVIOUS: secret(
    secretText,
    'the old key while you [replace](#replacing-the-secret-key) `SECRET_KEY`: what it signed or encrypted stays valid',
  ),
  LOG_LEVEL: plain(
    v.picklist(
      ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
      'must be one of fatal, error, warn, info, debug, trace, silent',
    ),
    'info',
    '`fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`. With `debug`, failed commands print a stack trace',
  ),
  REDIS_URL: plain(
    v.pipe(
      v.string(),
      v.check(
        (text) => readRedisAddress(text) !== undefined,
        'must be an address like redis://127.0.0.1:6379, or redis+sentinel://a:26379,b:26379,c:26379/name with the ' +
          'sentinels and the name of the primary',
      ),
    ),
    undefined,
    '`redis://host:6379`, or `redis+sentinel://a:26379,b:26379,c:26379/name`; with TLS `rediss`: shared request counters; see [Redis](#redis). Not set: each process counts by itself',
  ),
  TRUST_PROXY: plain(
    v.pipe(
      v.string(),
      v.regex(/^\d{1,2}$/, 'must be the number of proxies to trust, like 0 or 1'),
      v.transform(Number),
    ),
    '0',
    'number of proxies in front of the service; see [proxies](#proxies)',
  ),
  CORS_ORIGINS: plain(
    v.pipe(
      v.string(),
      v.transform(list),
      v.check(
        (origins) =>
          origins.every((one) => one === '*' || (URL.canParse(one) && new URL(one).origin === one)),
        'must be a list of origins like https://shop.example, without a path, or *',
      ),
    ),
    '',
    'origins that may call the API from a browser, comma-separated, or `*`',
  ),
  PET_BY_ID_DEPRECATED_SINCE: plain(
    v.pipe(
      v.string(),
      v.check(
        (text) => /^\d{4}-\d\d-\d\d(T|$)/.test(text) && !Number.isNaN(Date.parse(text)),
        'must be a date like 2026-12-05',
      ),
      v.transform((text) => new Date(text)),
    ),
    '2025-12-05',
    'date in the `Deprecation` header of `GET /pets/{petId}`',
  ),
} satisfies SettingTable;
