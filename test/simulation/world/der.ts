import {
  createPublicKey,
  verify,
  createHash,
  createPrivateKey,
  sign,
  type KeyObject,
} from 'node:crypto';

/** ASN.1 in DER (X.690), as far as certificates and requests need it. */
const derTags = {
  boolean: 0x01,
  integer: 0x02,
  bits: 0x03,
  octets: 0x04,
  oid: 0x06,
  utf8: 0x0c,
  utcTime: 0x17,
  longTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

const der = (tag: number, ...parts: readonly Buffer[]): Buffer => {
  const content = Buffer.concat(parts);
  const { length } = content;
  const short = length < 128 ? [length] : [0x81, length];
  const head = length < 256 ? short : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...head]), content]);
};

const sequence = (...parts: readonly Buffer[]): Buffer => der(derTags.sequence, ...parts);

const bits = (bytes: Buffer): Buffer => der(derTags.bits, Buffer.of(0), bytes);

interface DerNode {
  readonly tag: number;
  /** Includes the tag and the length. */
  readonly whole: Buffer;
  readonly content: Buffer;
}

/** The consecutive nodes in these bytes. @throws RangeError if they are not DER */
const derNodes = (bytes: Buffer): readonly DerNode[] => {
  const nodes: DerNode[] = [];
  for (let at = 0; at < bytes.length;) {
    const tag = bytes.readUInt8(at);
    const first = bytes.readUInt8(at + 1);
    const lengthBytes = first < 128 ? 0 : first - 128;
    const length = lengthBytes === 0 ? first : bytes.readUIntBE(at + 2, lengthBytes);
    const start = at + 2 + lengthBytes;
    if (start + length > bytes.length) throw new RangeError('the DER is cut off');
    const whole = bytes.subarray(at, start + length);
    nodes.push({ tag, whole, content: bytes.subarray(start, start + length) });
    at = start + length;
  }
  return nodes;
};

export interface CertificateRequest {
  readonly names: readonly string[];
  /** SubjectPublicKeyInfo, DER. */
  readonly publicKey: Buffer;
}

const alternativeNames = '551d11';

/**
 * Reads a request (RFC 2986) for an ECDSA P-256 key without a common name, as the service sends it.
 * @throws Error that says what is wrong with it
 */
export const readCertificateRequest = (request: Buffer): CertificateRequest => {
  const [outer] = derNodes(request);
  const [body, , signature] = outer ? derNodes(outer.content) : [];
  if (!body || !signature) throw new Error('it is no certificate request');
  const [, , publicKey] = derNodes(body.content);
  if (!publicKey) throw new Error('it has no public key');
  const key = createPublicKey({ key: publicKey.whole, format: 'der', type: 'spki' });
  if (key.asymmetricKeyDetails?.namedCurve !== 'prime256v1')
    throw new Error('its key is not P-256');
  if (!verify('sha256', body.whole, key, signature.content.subarray(1))) {
    throw new Error('its signature is wrong');
  }
  return { names: namesIn(body), publicKey: Buffer.from(publicKey.whole) };
};

/** Returns the value after the object identifier of the alternative names, wherever they are. */
const namesIn = (body: DerNode): readonly string[] => {
  const value = valueAfter(body, alternativeNames);
  const [list] = value ? derNodes(value.content) : [];
  return (list ? derNodes(list.content) : []).map(({ tag, content }) => {
    if (tag !== 0x82) throw new Error('it has an alternative that is no DNS name');
    return content.toString('latin1');
  });
};

const isNested = ({ tag }: DerNode): boolean =>
  tag === derTags.sequence || tag === derTags.set || tag === 0xa0;

const valueAfter = (node: DerNode, id: string): DerNode | undefined => {
  const nodes = derNodes(node.content);
  const at = nodes.findIndex(
    ({ tag, content }) => tag === derTags.oid && content.toString('hex') === id,
  );
  if (at >= 0) return nodes.slice(at).find(({ tag }) => tag === derTags.octets);
  for (const inner of nodes.filter(isNested)) {
    const found = valueAfter(inner, id);
    if (found) return found;
  }
  return undefined;
};

const { boolean, integer, octets, oid, set, utcTime, longTime, utf8 } = derTags;

export interface LeafFacts {
  readonly names: readonly string[];
  /** Positive, as in DER. */
  readonly serial: Buffer;
  /** SubjectPublicKeyInfo, DER. */
  readonly publicKey: Buffer;
  /** Milliseconds; certificates have whole seconds. */
  readonly notBefore: number;
  readonly notAfter: number;
}

/**
 * An intermediate that signs leaves (RFC 5280). It signs with Ed25519, which gives the same bytes each time, so that
 * the stored data of a run never differs.
 */
export class IssuingKey {
  readonly keyId: Buffer;
  readonly #name: Buffer;
  readonly #key: KeyObject;
  readonly #certificate: string;

  /** @param name determines the key */
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
