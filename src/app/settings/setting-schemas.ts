import ipaddr from 'ipaddr.js';
import { validate } from 'node-cron';
import * as v from 'valibot';
import { readRedisAddress } from '../../adapters/redis/redis-address.ts';

export const roles = ['api', 'dashboard', 'edge', 'worker', 'dns'] as const;

export const leastCharacters = 32;

export const list = (text: string) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

const urlLike = (text: string, protocols: readonly string[]) =>
  URL.canParse(text) && protocols.includes(new URL(text).protocol);

/** Refuses a user and password, because the address is public. */
const hasNoUser = (text: string): boolean => {
  if (!URL.canParse(text)) return true;
  const { username, password } = new URL(text);
  return username === '' && password === '';
};

export const text = v.string();

export const databaseUrl = v.pipe(
  v.string(),
  v.check(
    (given) =>
      /^sqlite:.+/.test(given) ||
      (urlLike(given, ['mysql:']) &&
        /^\/[^/]+$/.test(new URL(given).pathname) &&
        new URL(given).hostname !== ''),
    'must be sqlite:PATH or mysql://user:password@host:3306/name',
  ),
);

export const redisUrl = v.pipe(
  v.string(),
  v.check(
    (given) => readRedisAddress(given) !== undefined,
    'must be an address like redis://127.0.0.1:6379, or redis+sentinel://a:26379,b:26379,c:26379/name with the ' +
      'sentinels and the name of the primary',
  ),
);

export const apiAddress = v.pipe(
  v.string(),
  v.check(hasNoUser, 'must not contain a user or a password'),
  v.check(
    (given) => urlLike(given, ['http:', 'https:']) && /^[^?#]*\/v1\/?$/.test(given),
    'must be an http or https address whose path ends in /v1, like https://api.shop.example/v1',
  ),
  // The URL is normalised, because the https check compares its beginning.
  v.transform((given) => {
    const { origin, pathname } = new URL(given);
    return origin + pathname.replace(/\/$/, '');
  }),
);

export const httpAddress = (like: string) =>
  v.pipe(
    v.string(),
    v.check(hasNoUser, 'must not contain a user or a password'),
    v.check(
      (given) => urlLike(given, ['http:', 'https:']) && /^[^?#]*$/.test(given),
      `must be an http or https address, like ${like}`,
    ),
  );

export const directory = v.pipe(
  v.string(),
  v.check(
    (given) => urlLike(given, ['https:']) && hasNoUser(given),
    'must be an https URL without user and password',
  ),
);

const portRule = 'must be a port number from 1 to 65535';
export const port = v.pipe(
  v.string(),
  v.regex(/^\d{1,5}$/, portRule),
  v.transform(Number),
  v.minValue(1, portRule),
  v.maxValue(65535, portRule),
);
export const portOrAny = v.union([v.pipe(v.literal('0'), v.transform(Number)), port], portRule);

const listenRule = 'must be an IP address or a host name';
const listenPattern = /^[0-9A-Za-z.:-]+$/;
export const addressToListenOn = v.pipe(v.string(), v.regex(listenPattern, listenRule));

/** Parses `port`, `host:port` or `[ipv6]:port`. The default host is the loopback address. */
export const hostAndPort = v.pipe(
  v.string(),
  v.transform((given) => {
    const [, v6, host = v6 ?? '127.0.0.1', digits = ''] =
      /^(?:\[([0-9A-Fa-f:.]+)\]:|([^:]*):)?(\d{1,5})$/.exec(given) ?? [];
    return { host, port: Number(digits) };
  }),
  v.check(
    (one) => listenPattern.test(one.host) && one.port >= 1 && one.port <= 65535,
    'must be a port number from 1 to 65535, alone or after an address to listen on: 9100, 0.0.0.0:9100 or [::]:9100',
  ),
);

export const isIP = (given: string): 0 | 4 | 6 => {
  if (ipaddr.IPv4.isValidFourPartDecimal(given)) return 4;
  return ipaddr.IPv6.isValid(given) ? 6 : 0;
};

export const ipAddress = v.pipe(
  v.string(),
  v.check((given) => isIP(given) !== 0, 'must be an IP address'),
);

export const ipAddresses = v.pipe(
  v.string(),
  v.transform(list),
  v.check(
    (all) => all.length > 0 && all.every((one) => isIP(one) !== 0),
    'must be a list of IP addresses',
  ),
);

const isServer = (given: string): boolean => {
  if (isIP(given) !== 0) return true;
  const [, v6, v4, digits] = /^(?:\[(.+)\]|([^:[\]]+)):(\d{1,5})$/.exec(given) ?? [];
  const isPort = Number(digits) >= 1 && Number(digits) <= 65535;
  return isPort && (v6 === undefined ? isIP(v4 ?? '') === 4 : isIP(v6) === 6);
};

export const dnsServers = v.pipe(
  v.string(),
  v.transform(list),
  v.check(
    (servers) => servers.length > 0 && servers.every(isServer),
    'must be a list of addresses like 1.1.1.1 or 127.0.0.1:5353 or [2620:fe::fe]:53',
  ),
);

export const hostName = v.pipe(
  v.string(),
  v.toLowerCase(),
  v.maxLength(189, 'must have at most 189 characters'),
  v.regex(
    /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/,
    'must be a host name with a dot in it, like sites.shop.example',
  ),
);

const label = '[a-z0-9]([a-z0-9-]{0,59}[a-z0-9])?';
export const zone = v.pipe(
  v.string(),
  v.toLowerCase(),
  v.maxLength(120, 'must have at most 120 characters'),
  v.regex(
    new RegExp(`^(${label}\\.){2,}${label}$`),
    'must be a name below a domain of yours, like acme.shop.example',
  ),
);

export const someRoles = v.pipe(
  v.string(),
  v.transform(list),
  v.check((parts) => parts.length > 0, `must name at least one of ${roles.join(', ')}`),
  v.array(
    v.picklist(
      roles,
      ({ received }) => `must be a list of ${roles.join(', ')}; it contains ${received}`,
    ),
  ),
);

export const processCount = v.pipe(
  v.string(),
  v.regex(/^(auto|[1-9]\d?)$/, 'must be a number from 1 to 99, or auto'),
  v.transform((given) => (given === 'auto' ? given : Number(given))),
);

export const proxyCount = v.pipe(
  v.string(),
  v.regex(/^\d{1,2}$/, 'must be the number of proxies to trust, like 0 or 1'),
  v.transform(Number),
);

const secondsRule = 'must be a whole number of seconds from 0 to 3600';
export const seconds = v.pipe(
  v.string(),
  v.regex(/^\d{1,4}$/, secondsRule),
  v.transform(Number),
  v.maxValue(3600, secondsRule),
);

export const zeroOrOne = v.pipe(
  v.picklist(['0', '1'], 'must be 0 or 1'),
  v.transform((given) => given === '1'),
);

export const origins = v.pipe(
  v.string(),
  v.transform(list),
  v.check(
    (all) => all.every((one) => one === '*' || (URL.canParse(one) && new URL(one).origin === one)),
    'must be a list of origins like https://shop.example, without a path, or *',
  ),
);

export const schedule = v.pipe(
  v.string(),
  v.check((given) => validate(given), 'must be a cron expression like */5 * * * * *'),
);

export const secretText = v.pipe(
  v.string(),
  v.minLength(
    leastCharacters,
    `must have at least ${String(leastCharacters)} characters; make one: openssl rand -hex 32`,
  ),
);

export const email = v.pipe(v.string(), v.email('must be an email address'));

export const bindingKey = v.pipe(
  v.string(),
  v.regex(
    /^[A-Za-z0-9_-]+=*$/,
    'must be the base64url key that the certificate authority gave you',
  ),
);

export const profile = v.pipe(
  v.string(),
  v.regex(/^[\w.~-]{1,64}$/, 'must be the name of a profile of the authority'),
);

export const issuers = v.pipe(
  v.string(),
  v.toLowerCase(),
  v.transform(list),
  v.check(
    (names) => names.length > 0 && names.every((name) => /^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(name)),
    'must be the name of the certificate authority in CAA records, like letsencrypt.org',
  ),
);

export const bucketUrl = v.pipe(
  v.string(),
  v.check(
    (given) => !/^s3:\/\/[^/]{1,2}(\/|$)/.test(given),
    'the name of the bucket is too short: it must have 3 to 63 characters',
  ),
  v.regex(
    /^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/[\w!'()*.-]+)*\/?$/,
    'must be s3://BUCKET or s3://BUCKET/PREFIX, without a user, a password or a query',
  ),
);

const isDecodable = (given: string): boolean => {
  try {
    return decodeURIComponent(given) !== '\0';
  } catch {
    return false;
  }
};

const isServerAlone = ({ hostname, pathname, search, hash, username, password }: URL): boolean =>
  hostname !== '' &&
  (pathname === '' || pathname === '/') &&
  search === '' &&
  hash === '' &&
  (username === '') === (password === '') &&
  isDecodable(username) &&
  isDecodable(password);

export const smtpUrl = v.pipe(
  v.string(),
  v.check(
    (given) => urlLike(given, ['smtp:', 'smtps:']) && isServerAlone(new URL(given)),
    'must be smtp://user:password@host:port or smtps://user:password@host:port; user, password and port may be left out, other characters in them are percent-encoded',
  ),
);

const mailAddress = /^[^\s<>@",;:\\()[\]]+@[a-z0-9-]+(\.[a-z0-9-]+)*$/i;
const senderPattern = /^(?:[^<>"\p{Cc}]{1,200}<(?<named>[^<>]+)>|(?<bare>[^<>]+))$/u;

const addressIn = (given: string): string => {
  const { named, bare } = senderPattern.exec(given.trim())?.groups ?? {};
  return named ?? bare ?? '';
};

export const sender = v.pipe(
  v.string(),
  v.check(
    (given) => mailAddress.test(addressIn(given)),
    'must be an email address like store@shop.example, or Name <store@shop.example>',
  ),
);
