import { buffer } from 'node:stream/consumers';
import { gzipSync, crc32, deflateRawSync } from 'node:zlib';
import { pack, type Header } from 'tar-stream';

export type TarEntry = Partial<Header> & {
  readonly name: string;
  readonly content?: string | Buffer;
};

/** @returns a tar, without any checks */
export const tarOf = (...entries: readonly TarEntry[]): Promise<Buffer> => {
  const tar = pack();
  for (const { content, ...header } of entries) {
    if (content === undefined) tar.entry(header);
    else tar.entry(header, Buffer.from(content));
  }
  tar.finalize();
  return buffer(tar as AsyncIterable<Buffer>);
};

export const tgzOf = async (...entries: readonly TarEntry[]): Promise<Buffer> =>
  gzipSync(await tarOf(...entries));

/** One entry of a zip as declared by its bytes, whether true or not. Omitted fields are correct. */
export interface ZipEntry {
  readonly name: string | Buffer;
  readonly content?: string | Buffer;
  /** Unix type and permissions; a plain file by default. */
  readonly mode?: number;
  /** 8 is deflate, 0 is none. */
  readonly method?: number;
  readonly flags?: number;
  readonly crc?: number;
  /** The declared values in both headers. */
  readonly size?: number;
  readonly packed?: Buffer;
  readonly localOffset?: number;
  readonly extra?: Buffer;
}

export const regularFile = 0o100644;

/**
 * Builds a zip byte by byte (APPNOTE.TXT 4.3), because no available library writes invalid ones.
 * @param count the number of entries that its end declares
 */
export const zipOf = (entries: readonly ZipEntry[], count = entries.length): Buffer => {
  const locals: Buffer[] = [];
  const centrals: Buffer[] = [];
  let offset = 0;
  for (const entry of entries) {
    const { local, central } = recordsOf(entry, entry.localOffset ?? offset);
    locals.push(local);
    centrals.push(central);
    offset += local.length;
  }
  const directory = Buffer.concat(centrals);
  return Buffer.concat([...locals, directory, endOf(count, directory.length, offset)]);
};

/** A zip whose 64-bit end record declares that the directory begins at `directoryAt`. */
export const zip64Of = (content: Buffer, recordAt: bigint, directoryAt: bigint): Buffer => {
  const record = Buffer.alloc(56);
  record.writeUInt32LE(0x06064b50, 0);
  record.writeBigUInt64LE(44n, 4);
  record.writeBigUInt64LE(1n, 24);
  record.writeBigUInt64LE(1n, 32);
  record.writeBigUInt64LE(46n, 40);
  record.writeBigUInt64LE(directoryAt, 48);
  const locator = Buffer.alloc(20);
  locator.writeUInt32LE(0x07064b50, 0);
  locator.writeBigUInt64LE(recordAt, 8);
  locator.writeUInt32LE(1, 16);
  return Buffer.concat([content, record, locator, endOf(0xffff, 0xffffffff, 0xffffffff)]);
};

const recordsOf = (entry: ZipEntry, localOffset: number) => {
  const name = Buffer.from(entry.name);
  const content = Buffer.from(entry.content ?? 'x');
  const method = entry.method ?? 8;
  const packed = entry.packed ?? (method === 8 ? deflateRawSync(content) : content);
  const flags = entry.flags ?? 0x800;
  const extra = entry.extra ?? Buffer.alloc(0);
  const common = Buffer.alloc(26);
  common.writeUInt16LE(20, 0);
  common.writeUInt16LE(flags, 2);
  common.writeUInt16LE(method, 4);
  common.writeUInt32LE(entry.crc ?? crc32(content), 10);
  common.writeUInt32LE(packed.length, 14);
  common.writeUInt32LE(entry.size ?? content.length, 18);
  common.writeUInt16LE(name.length, 22);
  common.writeUInt16LE(extra.length, 24);
  const madeBy = Buffer.from([20, 3]);
  const tail = Buffer.alloc(14);
  tail.writeUInt32LE(((entry.mode ?? regularFile) << 16) >>> 0, 6);
  tail.writeUInt32LE(localOffset, 10);
  return {
    local: Buffer.concat([Buffer.from('PK\x03\x04'), common, name, extra, packed]),
    central: Buffer.concat([Buffer.from('PK\x01\x02'), madeBy, common, tail, name, extra]),
  };
};

const endOf = (count: number, bytes: number, offset: number): Buffer => {
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 0, 'latin1');
  end.writeUInt16LE(count, 8);
  end.writeUInt16LE(count, 10);
  end.writeUInt32LE(bytes, 12);
  end.writeUInt32LE(offset, 16);
  return end;
};
