import { gzipSync, constants, crc32, deflateRawSync } from 'node:zlib';
import {
  tarOf,
  tgzOf,
  type TarEntry,
  regularFile,
  zip64Of,
  zipOf,
  type ZipEntry,
} from './archive-bytes.ts';
import type { UploadProblem } from '../../../src/sites/domain/sites-error.ts';

/** This many gzip members of zeros. A gzip may have any number of members (RFC 1952). */
const gzippedZeros = (count: number): Buffer =>
  Buffer.concat(Array<Buffer>(count).fill(gzipSync(zeros)));

const patched = (bytes: Buffer, at: number, value: number): Buffer => {
  const copy = Buffer.from(bytes);
  copy[at < 0 ? bytes.length + at : at] = value;
  return copy;
};

const tgz = (...entries: readonly TarEntry[]): Promise<Buffer> => tgzOf(index, ...entries);

/** Omits the end, two blocks of zeros, so that another tar may follow. */
const openTar = async (...entries: readonly TarEntry[]): Promise<Buffer> =>
  (await tarOf(index, ...entries)).subarray(0, -1024);

/** A header that declares another size, with a valid checksum. */
const announcing = async (size: string | Buffer): Promise<Buffer> => {
  const header = (await tarOf({ name: 'lie', content: 'x' })).subarray(0, 512);
  header.fill(0, 124, 136);
  Buffer.from(size).copy(header, 124);
  header.fill(' ', 148, 156);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return header;
};
const octal = (size: number): string => size.toString(8).padStart(11, '0');

/** This many attributes of extended headers (POSIX pax). */
const paxOf = (count: number): string =>
  Array.from({ length: count }, (_, at) => `9 k${String(at).padStart(3, '0')}=\n`).join('');

/** An extended header for all later files. */
const globalOf = async (attributes: string): Promise<Buffer> => {
  const tar = await tarOf({ name: 'g', content: attributes });
  return Buffer.concat([retyped(tar.subarray(0, 512), 'g'), tar.subarray(512, -1024)]);
};

/** @param escape a path where nothing may be written */
export const hostileTars = (escape: string): readonly HostileArchive[] => {
  const { folder, name } = escapesOf(escape);
  const way = `../../${name}`;
  return linesOf([
    ['a path that leads out', () => tgz({ name: way, content: 'x' }), 'archive_unsafe_path'],
    ['an absolute path', () => tgz({ name: escape, content: 'x' }), 'archive_unsafe_path'],
    [
      'a long path that leads out',
      () => tgz({ name: `${'d/'.repeat(120)}../${way}`, content: 'x' }),
      'archive_unsafe_path',
    ],
    [
      'another path after the visible one',
      () => tgz({ name: 'good.txt', content: 'x', pax: { path: way } }),
      'archive_unsafe_path',
    ],
    [
      'a link and a file below it',
      () =>
        tgz(
          { name: 'ln', type: 'symlink', linkname: folder },
          { name: `ln/${name}`, content: 'x' },
        ),
      'archive_link',
    ],
    [
      'a hard link',
      () => tgz({ name: 'a', type: 'link', linkname: '/etc/passwd' }),
      'archive_link',
    ],
    ['a pipe', () => tgz({ name: 'pipe', type: 'fifo' }), 'archive_link'],
    ['a device', () => tgz({ name: 'dev', type: 'character-device' }), 'archive_link'],
    [
      'an unknown type of entry',
      async () => gzipSync(Buffer.concat([await openTar(), await unknownType()])),
      'archive_link',
    ],
    [
      'attributes of 1 MiB before a file',
      () => tgz({ name: 'a', content: 'x', pax: { comment: 'x'.repeat(mib) } }),
      'archive_unreadable',
    ],
    [
      'attributes for all files that would be copied for each',
      async () =>
        gzipSync(Buffer.concat([await openTar(), await globalOf(paxOf(200)), await tarOf()])),
      'archive_unreadable',
    ],
    ['no content', () => Promise.resolve(gzipSync('')), 'archive_without_index'],
    [
      'a wrong size',
      async () => gzipSync(Buffer.concat([await openTar(), await announcing(octal(9999))])),
      'archive_unreadable',
    ],
    [
      'a negative size',
      async () =>
        gzipSync(
          Buffer.concat([
            await openTar(),
            await announcing(Buffer.alloc(12, 'ÿÿÿÿÿÿÿÿÿÿÿ\0', 'latin1')),
          ]),
        ),
      'archive_unreadable',
    ],
    [
      'a size beyond all numbers',
      async () =>
        gzipSync(Buffer.concat([await openTar(), await announcing(Buffer.alloc(12, 0x80)), zeros])),
      'archive_unreadable',
    ],
    [
      'an invalid size',
      () => tgz({ name: 'a', content: 'x', pax: { size: 'many' } }),
      'archive_unreadable',
    ],
    [
      'a wrong checksum of a header',
      async () => gzipSync(patched(await tarOf(index), 150, 0x39)),
      'archive_unreadable',
    ],
    [
      'a wrong checksum at its end',
      async () => patched(await tgz(), -8, (await tgz()).at(-8)! ^ 1),
      'archive_unreadable',
    ],
    ['its second half cut off', async () => (await tgz()).subarray(0, 80), 'archive_unreadable'],
    ['its end cut off', async () => (await tgz()).subarray(0, -3), 'archive_unreadable'],
    [
      'something behind its end',
      async () => Buffer.concat([await tgz(), Buffer.from('something')]),
      'archive_unreadable',
    ],
    [
      'something other than a tar',
      () => Promise.resolve(gzipSync('<!doctype html>'.repeat(100))),
      'archive_unreadable',
    ],
    [
      'an invalid gzip after its first bytes',
      () => Promise.resolve(Buffer.from([0x1f, 0x8b, 0xff, 0xff, 0, 0])),
      'archive_unreadable',
    ],
    ['a program with setuid root', () => tgz({ name: 'tool', content: 'x', mode: 0o4755 })],
    ['zeros after its end', async () => Buffer.concat([await tgz(), zeros])],
    ['a folder marked only by its name', () => tgz({ name: 'old/', content: '' })],
  ]);
};

const unknownType = async (): Promise<Buffer> => retyped(await announcing(octal(0)), 'S');

const retyped = (header: Buffer, type: string): Buffer => {
  const sum = parseInt(header.toString('latin1', 148, 154), 8) - header[156]! + type.charCodeAt(0);
  const copy = Buffer.from(header);
  copy.write(type, 156);
  copy.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return copy;
};

/** This many MiB of zeros, deflated in independent pieces. */
const deflatedZeros = (count: number): Buffer => {
  const piece = deflateRawSync(zeros, { finishFlush: constants.Z_FULL_FLUSH });
  return Buffer.concat([...Array<Buffer>(count).fill(piece), deflateRawSync(Buffer.alloc(0))]);
};

const bomb = (count: number, size = count * mib): ZipEntry => {
  let crc = 0;
  for (let n = 0; n < count; n++) crc = crc32(zeros, crc);
  return { name: 'zeros', packed: deflatedZeros(count), size, crc };
};

const zip = (...entries: readonly ZipEntry[]): Buffer => zipOf([index, ...entries]);
const file = (name: string | Buffer): Buffer => zip({ name });

const encrypted = 0x801;
const stronglyEncrypted = 0x841;
const noUtf8 = 0;

/** A zip64 offset of an entry beyond JavaScript's safe integers. */
const farAway = (): Buffer => {
  const extra = Buffer.from([1, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
  extra.writeBigUInt64LE(2n ** 62n, 4);
  return extra;
};

/** @param escape a path where nothing may be written */
export const hostileZips = (escape: string): readonly HostileArchive[] => {
  const { folder, name } = escapesOf(escape);
  const link = (path: string, to: string) => ({ name: path, content: to, mode: 0o120777 });
  return linesOf([
    ['a path that leads out', () => file(`../../${name}`), 'archive_unsafe_path'],
    ['an absolute path', () => file(escape), 'archive_unsafe_path'],
    ['backslashes', () => file(`..\\..\\${name}`), 'archive_unsafe_path'],
    ['a NUL', () => file('a\0.html'), 'archive_unsafe_path'],
    ['a link', () => zip(link('link', '/etc/passwd')), 'archive_link'],
    [
      'a link and a file below it',
      () => zip(link('d', folder), { name: `d/${name}` }),
      'archive_link',
    ],
    ['a device', () => zip({ name: 'dev', mode: 0o020666 }), 'archive_link'],
    ['a pipe', () => zip({ name: 'pipe', mode: 0o010666 }), 'archive_link'],
    ['no content', () => zipOf([]), 'archive_without_index'],
    [
      'the same 10 MiB under many names',
      () => {
        const names = Array.from({ length: 30 }, (_, n) => `zeros${String(n)}`);
        const { packed, ...same } = { ...bomb(10), localOffset: 0 };
        const others = names.map((name) => ({ ...same, name, packed: packed! }));
        return zipOf([{ ...others[0]!, name: 'index.html' }, ...others]);
      },
      'archive_too_large',
    ],
    ['a wrong size', () => zip(bomb(300, 10)), 'archive_unreadable'],
    ['less content than declared', () => zip({ name: 'a', size: 2 }), 'archive_unreadable'],
    ['a wrong compressed size', () => zip({ name: 'a', method: 0, size: 2 }), 'archive_unreadable'],
    ['a wrong checksum', () => zip({ name: 'a', crc: 1 }), 'archive_unreadable'],
    [
      'something after a compressed file',
      () => zip({ name: 'a', packed: Buffer.concat([deflateRawSync(Buffer.from('x')), zeros]) }),
      'archive_unreadable',
    ],
    [
      'something other than the declared deflate',
      () => zip({ name: 'a', packed: zeros }),
      'archive_unreadable',
    ],
    ['its end cut off', () => file('a').subarray(0, -10), 'archive_unreadable'],
    ['its second half cut off', () => file('a').subarray(0, 80), 'archive_unreadable'],
    ['something behind its end', () => Buffer.concat([file('a'), zeros]), 'archive_unreadable'],
    ['fewer entries than declared', () => zipOf([index], 2), 'archive_unreadable'],
    ['an entry at another offset', () => zip({ name: 'a', localOffset: 5 }), 'archive_unreadable'],
    [
      'an entry after its end',
      () => zip({ name: 'a', localOffset: 0xfffffff0 }),
      'archive_unreadable',
    ],
    [
      'an entry beyond all numbers',
      () => zip({ name: 'a', localOffset: 0xffffffff, extra: farAway() }),
      'archive_unreadable',
    ],
    [
      'a directory beyond all numbers',
      () => zip64Of(file('a'), BigInt(file('a').length), 2n ** 63n),
      'archive_unreadable',
    ],
    ['an end beyond all numbers', () => zip64Of(file('a'), 2n ** 63n, 0n), 'archive_unreadable'],
    ['an encrypted file', () => zip({ name: 'a', flags: encrypted }), 'archive_unsupported'],
    [
      'a strongly encrypted file',
      () => zip({ name: 'a', flags: stronglyEncrypted }),
      'archive_unsupported',
    ],
    ['an unusual compression method', () => zip({ name: 'a', method: 14 }), 'archive_unsupported'],
    ['a program with setuid root', () => zip({ name: 'tool', mode: regularFile | 0o4755 })],
    ['two names that differ in case', () => file('Index.html')],
    ['an archive inside', () => zip({ name: 'inner.zip', content: zip(bomb(300)) })],
    ['a name that is not UTF-8', () => file(Buffer.from([0x63, 0xe9, 0x2e, 0x74]))],
    ['a name in an old code page', () => zip({ name: Buffer.from([0x82]), flags: noUtf8 })],
    ['a bomb among the skipped files', () => zip({ ...bomb(300), name: '.cache/zeros' })],
  ]);
};

/** Archives of zeros: 300 MiB in a zip and in a gzipped tar, and a gzip of 10 GiB without an entry. */
export const bombs: readonly (() => Buffer | Promise<Buffer>)[] = [
  () => zip(bomb(300)),
  async () =>
    Buffer.concat([
      gzipSync(Buffer.concat([await openTar(), await announcing(octal(300 * mib))])),
      gzippedZeros(301),
    ]),
  async () => Buffer.concat([gzipSync(await openTar()), gzippedZeros(10_240)]),
];

/** An archive with one fault, and a good index.html unless that is the fault. */
export interface HostileArchive {
  readonly what: string;
  readonly bytes: () => Buffer | Promise<Buffer>;
  /** Why it is refused; undefined if it is strange but harmless. */
  readonly problem: UploadProblem | undefined;
}

const index = { name: 'index.html', content: '<!doctype html><title>hostile</title>' };

/** A folder and a file in it. Files written there have escaped. */
const escapesOf = (escape: string): { readonly folder: string; readonly name: string } => {
  const at = escape.lastIndexOf('/');
  return { folder: escape.slice(0, at), name: escape.slice(at + 1) };
};

const mib = 1024 * 1024;
const zeros = Buffer.alloc(mib);

const linesOf = (
  lines: readonly (readonly [string, HostileArchive['bytes'], UploadProblem?])[],
): readonly HostileArchive[] => lines.map(([what, bytes, problem]) => ({ what, bytes, problem }));

/** First bytes that no archive has. */
export const noArchives: Readonly<Record<string, Buffer>> = {
  'a page': Buffer.from('<!doctype html>'),
  'no bytes': Buffer.alloc(0),
  'one byte': Buffer.from([0x1f]),
  'a picture': Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
  'a RAR': Buffer.from('Rar!\x1a\x07\x01\x00', 'latin1'),
  'a bzip2': Buffer.from('BZh91AY&SY', 'latin1'),
  'a zip after a program': Buffer.concat([Buffer.from('MZ'), zipOf([index])]),
};
