import crc32 from 'crc-32';

/**
 * The secret of an API key: `pets_live_`, 32 random base62 characters, and 6 base62 characters of the CRC-32 (ISO 3309,
 * as in zlib) over all that precedes. The checksum reveals a mistyped key without a look-up.
 */
const secretPrefix = 'pets_live_';
export const randomLength = 32;
const checksumLength = 6;

export const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** @param random 32 base62 characters from a cryptographic source */
export const composeSecret = (random: string): string => {
  const body = secretPrefix + random;
  return body + checksum(body);
};

const shape = new RegExp(`^${secretPrefix}[0-9A-Za-z]{${String(randomLength + checksumLength)}}$`);

export const isWellFormedSecret = (secret: string): boolean =>
  shape.test(secret) &&
  checksum(secret.slice(0, -checksumLength)) === secret.slice(-checksumLength);

/** How a key is shown in lists: enough to recognise it, too little to use it. */
export const secretHint = (secret: string): string =>
  `${secret.slice(0, secretPrefix.length + 4)}…${secret.slice(-4)}`;

const checksum = (text: string): string => {
  let rest = crc32.str(text) >>> 0;
  let digits = '';
  for (let i = 0; i < checksumLength; i++) {
    digits = base62.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
};
