import * as v from 'valibot';
import { derived, plain, type SettingTable } from './setting.ts';
import { addressToListenOn, apiAddress, port, urlLike } from './setting-schemas.ts';

/** Where the service is, and where it keeps things. */
export const serverSettings = {
  NODE_ENV: plain(
    v.picklist(['development', 'test', 'production'], 'must be development, test or production'),
    undefined,
    '`development`, `test` or `production`. In production, the service requires a strong `SECRET_KEY` and an https `PUBLIC_URL`, creates no first account and prints only JSON logs; see [refused settings](#settings-that-are-refused)',
  ),
  DATABASE_URL: derived(
    v.pipe(
      v.string(),
      v.check(
        (text) =>
          /^sqlite:.+/.test(text) ||
          (urlLike(text, ['mysql:']) &&
            /^\/[^/]+$/.test(new URL(text).pathname) &&
            new URL(text).hostname !== ''),
        'must be sqlite:PATH or mysql://user:password@host:3306/name',
      ),
    ),
    'sqlite:var/animal-store.db',
    '`sqlite:PATH`, or `mysql://user:password@host:3306/name`. By default a file in `DATA_DIR`',
  ),
  MYSQL_TOOLS_DIR: plain(
    v.string(),
    undefined,
    'folder of `mariadb-dump` and `mariadb`, or `mysqldump` and `mysql`, for [backups](#backups). Not set: they are searched on `PATH`',
  ),
  DATA_DIR: plain(
    v.string(),
    'var',
    'folder for deploys, the local certificate authority and, by default, the SQLite file and the secret key',
  ),
  HOST: plain(addressToListenOn, '127.0.0.1', 'address to listen on; `0.0.0.0` for all interfaces'),
  PORT: plain(port, '3000', 'port to listen on'),
  OPERATIONS_PORT: plain(
    port,
    undefined,
    'a separate port for [health and metrics](#health-readiness-metrics). Not set: they are on `PORT`',
  ),
  OPERATIONS_HOST: plain(
    addressToListenOn,
    '127.0.0.1',
    'address for `OPERATIONS_PORT`; `0.0.0.0` if probes come from other machines',
  ),
  PUBLIC_URL: derived(
    apiAddress,
    'http://127.0.0.1:3000/v1',
    'base URL that clients use, in `Link`, `Location` and the OpenAPI document; ends in `/v1`, without user or password. Default: from `HOST` and `PORT`',
  ),
  STAGING_URL: plain(
    apiAddress,
    undefined,
    'base URL of a staging environment, listed in the OpenAPI document; ends in `/v1`',
  ),
} satisfies SettingTable;
