import { readRedisAddress } from '../../adapters/redis/redis-address.ts';
import { urlHost } from './addresses.ts';
import { camelCase, settings, type Config, type Setting } from './settings.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Variables of others that are a secret as a whole. */
const secretName = /SECRET|PASSWORD|TOKEN|HMAC|^OTEL_.*HEADERS$|_KEY$|_KEY_PREVIOUS$/;
/** Shorter ones would be found in the middle of words; inside an address they are left out by their place. */
const shortestSecret = 6;

/** `//user:password@host`: everything up to the last @ before the host, whatever the password contains. */
const userInAddress = /(\b[a-z][a-z0-9+.-]{1,20}:\/\/)[^\s"'<>]{0,500}@/gi;
const secretInQuery =
  /([?&][^=&\s"']{0,40}(?:pass|secret|token|key)[^=&\s"']{0,40}=)[^&\s"']{1,500}/gi;

/** An address without user and password. */
export const withoutUser = (url: string): string =>
  url.replace(userInAddress, '$1…@').replace(secretInQuery, '$1…');

/**
 * Takes out of any text what must not be read in logs and messages: the secrets among these settings, and users and
 * passwords of addresses.
 */
export const redaction = (environment: Environment): ((text: string) => string) => {
  const secrets = secretsIn(environment);
  return (text) =>
    secrets.reduce((left, secret) => left.replaceAll(secret, '…'), withoutUser(text));
};

const known: Readonly<Record<string, Setting>> = settings;

const isSecret = (name: string): boolean => {
  const setting = known[name];
  return setting ? setting.isSecret === true : secretName.test(name);
};

/** The longest first: one may be part of another. */
const secretsIn = (environment: Environment): readonly string[] =>
  Object.entries(environment)
    .flatMap(([name, value = '']) => [
      ...(isSecret(name) ? [value.trim()] : []),
      ...passwordsIn(value),
    ])
    .filter((secret) => secret.length >= shortestSecret)
    .toSorted((one, other) => other.length - one.length);

/** As written in the address, and decoded. */
const passwordsIn = (value: string): readonly string[] => {
  const redis = readRedisAddress(value);
  const ofSentinels = redis?.sentinels?.password ?? '';
  const url = redis?.url ?? value;
  if (!url.includes('@') || !URL.canParse(url)) return [ofSentinels];
  const { password } = new URL(url);
  try {
    return [ofSentinels, password, decodeURIComponent(password)];
  } catch {
    return [ofSentinels, password];
  }
};

/** The values in use, by their names in the environment. Of a secret only whether it is set. */
export const shownSettings = (config: Config): Readonly<Record<string, unknown>> => {
  const { operationsPort } = config;
  const values: Readonly<Record<string, unknown>> = {
    ...config,
    operationsPort:
      operationsPort && `${urlHost(operationsPort.host)}:${String(operationsPort.port)}`,
  };
  return Object.fromEntries(
    Object.entries<Setting>(settings).map(([name, { isSecret = false }]) => {
      const value = values[camelCase(name)];
      if (!isSecret) return [name, value];
      if (value !== undefined) return [name, 'set'];
      return [name, name === 'SECRET_KEY' ? 'from the data folder' : undefined];
    }),
  );
};
