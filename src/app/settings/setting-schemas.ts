import ipaddr from 'ipaddr.js';
import { validate } from 'node-cron';
import * as v from 'valibot';
import { leastCharacters } from './secret-strength.ts';

export const list = (text: string) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

export const urlLike = (text: string, protocols: readonly string[]) =>
  URL.canParse(text) && protocols.includes(new URL(text).protocol);

/** The address is public, so it must not contain a password in any spelling. */
export const hasNoUser = (text: string): boolean => {
  if (!URL.canParse(text)) return true;
  const { username, password } = new URL(text);
  return username === '' && password === '';
};

export const apiAddress = v.pipe(
  v.string(),
  v.check(hasNoUser, 'must not contain a user or a password'),
  v.check(
    (text) => urlLike(text, ['http:', 'https:']) && /^[^?#]*\/v1\/?$/.test(text),
    'must be an http or https address whose path ends in /v1, like https://api.shop.example/v1',
  ),
  v.transform((text) => plainAddress(new URL(text))),
);

/** Normalised, because the check for https looks at its beginning. */
const plainAddress = ({ origin, pathname }: URL): string => origin + pathname.replace(/\/$/, '');

const portRule = 'must be a port number from 1 to 65535';
export const port = v.pipe(
  v.string(),
  v.regex(/^\d{1,5}$/, portRule),
  v.transform(Number),
  v.minValue(1, portRule),
  v.maxValue(65535, portRule),
);
/** 0 stands for any free port. */
export const portOrAny = v.union([v.pipe(v.literal('0'), v.transform(Number)), port], portRule);

export const addresses = v.pipe(
  v.string(),
  v.transform(list),
  v.check(
    (all) => all.length > 0 && all.every((one) => isIP(one) !== 0),
    'must be a list of IP addresses',
  ),
);

export const isIP = (text: string): 0 | 4 | 6 => {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return 4;
  return ipaddr.IPv6.isValid(text) ? 6 : 0;
};

/** `ip` or `ip:port`; an IPv6 address with a port stands in brackets. */
export const isServer = (text: string): boolean => {
  if (isIP(text) !== 0) return true;
  const [, v6, v4, port] = /^(?:\[(.+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text) ?? [];
  const isPort = Number(port) >= 1 && Number(port) <= 65535;
  return isPort && (v6 === undefined ? isIP(v4 ?? '') === 4 : isIP(v6) === 6);
};

export const isSchedule = (text: string): boolean => validate(text);

export const addressToListenOn = v.pipe(
  v.string(),
  v.regex(/^[0-9A-Za-z.:-]+$/, 'must be an IP address or a host name'),
);

export const secretText = v.pipe(
  v.string(),
  v.minLength(
    leastCharacters,
    `must have at least ${String(leastCharacters)} characters; make one: openssl rand -hex 32`,
  ),
);

export const limit = v.pipe(
  v.string(),
  v.regex(/^[1-9]\d{0,5}$/, 'must be a whole number from 1 to 999999'),
  v.transform(Number),
);

export const processCount = v.pipe(
  v.string(),
  v.regex(/^(auto|[1-9]\d?)$/, 'must be a number from 1 to 99, or auto'),
  v.transform((text) => (text === 'auto' ? text : Number(text))),
);
