/** A message of Protocol Buffers: the values of each field by its number, in their order. */
export class WireMessage {
  readonly #fields = new Map<number, (bigint | Buffer)[]>();

  /** @throws RangeError where it ends too early */
  constructor(bytes: Buffer) {
    const reader = { bytes, at: 0 };
    while (reader.at < bytes.length) {
      const tag = Number(varint(reader));
      const values = this.#fields.get(tag >>> 3) ?? [];
      values.push(valueOf(tag & 7, reader));
      this.#fields.set(tag >>> 3, values);
    }
  }

  messages(field: number): readonly WireMessage[] {
    return this.#all(field).map((value) => new WireMessage(value as Buffer));
  }

  message(field: number): WireMessage | undefined {
    return this.messages(field)[0];
  }

  text(field: number): string {
    return (this.bytes(field) ?? '').toString();
  }

  hex(field: number): string {
    return this.bytes(field)?.toString('hex') ?? '';
  }

  number(field: number): number {
    return Number(this.#all(field)[0] ?? 0n);
  }

  has(field: number): boolean {
    return this.#fields.has(field);
  }

  bytes(field: number): Buffer | undefined {
    return this.#all(field)[0] as Buffer | undefined;
  }

  #all(field: number): readonly (bigint | Buffer)[] {
    return this.#fields.get(field) ?? [];
  }
}

interface Reader {
  readonly bytes: Buffer;
  at: number;
}

const valueOf = (type: number, reader: Reader): bigint | Buffer => {
  switch (type) {
    case 0:
      return varint(reader);
    case 1:
      return take(reader, 8).readBigUInt64LE();
    case 2:
      return take(reader, Number(varint(reader)));
    case 5:
      return BigInt(take(reader, 4).readUInt32LE());
    default:
      throw new Error(`wire type ${type} is not expected`);
  }
};

const take = (reader: Reader, length: number): Buffer => {
  const { bytes, at } = reader;
  if (at + length > bytes.length) throw new RangeError('the message ends too early');
  reader.at += length;
  return bytes.subarray(at, at + length);
};

const varint = (reader: Reader): bigint => {
  let value = 0n;
  for (let shift = 0n; ; shift += 7n) {
    const byte = take(reader, 1).readUInt8();
    value |= BigInt(byte & 0x7f) << shift;
    if ((byte & 0x80) === 0) return value;
  }
};
