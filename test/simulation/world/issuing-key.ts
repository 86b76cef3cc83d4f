import { createHash, createPrivateKey, createPublicKey, sign, type KeyObject } from 'node:crypto';
import { bits, der, derTags, sequence } from './der.ts';

const { boolean, integer, octets, oid, set, utcTime, longTime, utf8 } = derTags;

export interface LeafFacts {
  readonly names: readonly string[];
  /** Positive, as DER has it. */
  readonly serial: Buffer;
  /** Of the certificate's key: SubjectPublicKeyInfo, DER. */
  readonly publicKey: Buffer;
  /** Milliseconds; a certificate knows whole seconds. */
  readonly notBefore: number;
  readonly notAfter: number;
}

/**
 * An intermediate that signs leaves (RFC 5280). It signs with Ed25519, which gives the same bytes each time, so that
 * what is stored of a run is the same in each run.
 */
export class IssuingKey {
  readonly keyId: Buffer;
  readonly #name: Buffer;
  readonly #key: KeyObject;
  readonly #certificate: string;

  /** @param name the same name gives the same key */
  constructor(name: string) {
    this.#key = keyOf(name);
    this.#name = nameOf(`${name} intermediate`);
    const root = { name: nameOf(`${name} root`), key: keyOf(`${name} root`) };
    const publicKey = createPublicKey(this.#key).export({ type: 'spki', format: 'der' });
    this.keyId = createHash('sha1').update(publicKey).digest();
    const extensions = [
      extension('551d13', sequence(der(boolean, Buffer.of(0xff))), true),
      extension('551d0f', der(derTags.bits, Buffer.of(1, 0x06)), true),
      extension('551d0e', der(octets, this.keyId)),
    ];
    const certificate = signed(root.key, [
      der(integer, Buffer.of(1)),
      ed25519,
      root.name,
      sequence(timeOf(Date.UTC(2020, 0)), timeOf(Date.UTC(2099, 0))),
      this.#name,
      publicKey,
      der(0xa3, sequence(...extensions)),
    ]);
    this.#certificate = pemOf(certificate);
  }

  /** DER. */
  leaf({ names, serial, publicKey, notBefore, notAfter }: LeafFacts): Buffer {
    const alternatives = names.map((name) => der(0x82, Buffer.from(name)));
    const extensions = [
      // The subject is empty, so its alternative is critical.
      extension('551d11', sequence(...alternatives), true),
      extension('551d13', sequence(), true),
      extension('551d0f', der(derTags.bits, Buffer.of(7, 0x80)), true),
      extension('551d25', sequence(der(oid, Buffer.from('2b06010505070301', 'hex')))),
      extension('551d23', sequence(der(0x80, this.keyId))),
    ];
    return signed(this.#key, [
      der(integer, serial),
      ed25519,
      this.#name,
      sequence(timeOf(notBefore), timeOf(notAfter)),
      sequence(),
      publicKey,
      der(0xa3, sequence(...extensions)),
    ]);
  }

  /** PEM, with the intermediate. */
  chain(leaf: Buffer): string {
    return `${pemOf(leaf)}\n${this.#certificate}`;
  }
}

const ed25519 = sequence(der(oid, Buffer.from('2b6570', 'hex')));

/** RFC 8410, section 7. */
const keyOf = (name: string): KeyObject => {
  const secret = createHash('sha256').update(`authority ${name}`).digest();
  const head = Buffer.from('302e020100300506032b657004220420', 'hex');
  const key = Buffer.concat([head, secret]);
  return createPrivateKey({ key, format: 'der', type: 'pkcs8' });
};

const nameOf = (text: string): Buffer =>
  sequence(
    der(set, sequence(der(oid, Buffer.from('550403', 'hex')), der(utf8, Buffer.from(text)))),
  );

const extension = (id: string, value: Buffer, isCritical = false): Buffer =>
  sequence(
    der(oid, Buffer.from(id, 'hex')),
    ...(isCritical ? [der(boolean, Buffer.of(0xff))] : []),
    der(octets, value),
  );

/** UTCTime until 2049 (RFC 5280, section 4.1.2.5). */
const timeOf = (at: number): Buffer => {
  const text = `${new Date(at).toISOString().slice(0, 19).replaceAll(/[-:T]/g, '')}Z`;
  return text < '2050'
    ? der(utcTime, Buffer.from(text.slice(2)))
    : der(longTime, Buffer.from(text));
};

/** @param parts of version 3 */
const signed = (key: KeyObject, parts: readonly Buffer[]): Buffer => {
  const body = sequence(der(0xa0, der(integer, Buffer.of(2))), ...parts);
  return sequence(body, ed25519, bits(sign(null, body, key)));
};

const pemOf = (certificate: Buffer): string => {
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
};
