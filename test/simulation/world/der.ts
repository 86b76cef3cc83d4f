/** ASN.1 in DER (X.690): as much as certificates and their requests need. */
export const derTags = {
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

export const der = (tag: number, ...parts: readonly Buffer[]): Buffer => {
  const content = Buffer.concat(parts);
  const { length } = content;
  const short = length < 128 ? [length] : [0x81, length];
  const head = length < 256 ? short : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...head]), content]);
};

export const sequence = (...parts: readonly Buffer[]): Buffer => der(derTags.sequence, ...parts);

export const bits = (bytes: Buffer): Buffer => der(derTags.bits, Buffer.of(0), bytes);

export interface DerNode {
  readonly tag: number;
  /** With its head. */
  readonly whole: Buffer;
  readonly content: Buffer;
}

/** The nodes that stand one after the other in these bytes. @throws RangeError when they are no DER */
export const derNodes = (bytes: Buffer): readonly DerNode[] => {
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
