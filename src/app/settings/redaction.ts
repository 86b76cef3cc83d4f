import { readRedisAddress } from '../../adapters/redis/redis-address.ts';
import { urlHost } from './addresses.ts';
import { camelCase, settings, type Config, type Setting } from './settings.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const secretName = /SECRET|PASSWORD|TOKEN|HMAC|^OTEL_.*HEADERS$|_KEY$|_KEY_PREVIOUS$/;
/** Shorter secrets would match within words. In addresses, secrets are found by position. */
const shortestSecret = 6;

/** Matches `//user:password@host` up to the last @, because a password may contain any character. */
const userInAddress = /(\b[a-z][a-z0-9+.-]{1,20}:\/\/)[^\s"'<>]{0,500}@/gi;
const secretInQuery =
  /([?&][^=&\s"']{0,40}(?:pass|secret|token|key)[^=&\s"']{0,40}=)[^&\s"']{1,500}/gi;

export const withoutUser = (url: string): string =>
  url.replace(userInAddress, '$1…@').replace(secretInQuery, '$1…');

/** Removes these settings' secrets, and users and passwords in addresses, from a text. */
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

/** Sorts the longest first, because one secret may contain another. */
const secretsIn = (environment: Environment): readonly string[] =>
  Object.entries(environment)
    .flatMap(([name, value = '']) => [
      ...(isSecret(name) ? [value.trim()] : []),
      ...passwordsIn(value),
    ])
    .filter((secret) => secret.length >= shortestSecret)
    .toSorted((one, other) => other.length - one.length);

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

/** Returns the effective values by setting. For secrets, says only whether they are set. */
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
