/** HTTP/2 frames as bytes (RFC 9113, section 4.1), to send what no client would. */
const frameTypes = {
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  ping: 6,
  windowUpdate: 8,
  continuation: 9,
} as const;

export const flags = { acknowledged: 1, endStream: 1, endHeaders: 4 } as const;

export interface Frame {
  readonly type: keyof typeof frameTypes;
  readonly flags?: number;
  /** 0, the connection, without it. */
  readonly stream?: number;
  readonly payload?: Uint8Array;
}

export const frame = ({ type, flags: set = 0, stream = 0, payload }: Frame): Buffer => {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload?.length ?? 0, 0, 3);
  head.writeUInt8(frameTypes[type], 3);
  head.writeUInt8(set, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload ?? new Uint8Array()]);
};

/** What every connection of HTTP/2 begins with. */
export const preface = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  frame({ type: 'settings' }),
]);

/** Headers of a request, none of them compressed (RFC 7541, section 6.2.2). All are shorter than 127 bytes. */
export const headerBlock = (headers: Readonly<Record<string, string>>): Buffer =>
  Buffer.concat(
    Object.entries(headers).flatMap(([name, value]) => [
      Buffer.from([0, name.length]),
      Buffer.from(name),
      Buffer.from([value.length]),
      Buffer.from(value),
    ]),
  );

/** The error codes of all GOAWAY frames among what came. */
export const goAwayCodes = (received: Buffer): readonly number[] => {
  const codes: number[] = [];
  for (let at = 0; at + 9 <= received.length; at += 9 + received.readUIntBE(at, 3)) {
    const isGoAway = received.readUInt8(at + 3) === 7;
    if (isGoAway && at + 17 <= received.length) codes.push(received.readUInt32BE(at + 13));
  }
  return codes;
};
