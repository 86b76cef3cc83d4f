import { gzipSync } from 'node:zlib';
import { escapesOf, index, linesOf, mib, zeros, type HostileArchive } from './hostile-archives.ts';
import { tarOf, tgzOf, type TarEntry } from './tar-bytes.ts';

/** The same as the tail of a gzip, which may have any number of members (RFC 1952). */
const gzippedZeros = (count: number): Buffer =>
  Buffer.concat(Array<Buffer>(count).fill(gzipSync(zeros)));

const patched = (bytes: Buffer, at: number, value: number): Buffer => {
  const copy = Buffer.from(bytes);
  copy[at < 0 ? bytes.length + at : at] = value;
  return copy;
};

const tgz = (...entries: readonly TarEntry[]): Promise<Buffer> => tgzOf(index, ...entries);

/** Its end, two blocks of zeros, is missing: another one may follow. */
const openTar = async (...entries: readonly TarEntry[]): Promise<Buffer> =>
  (await tarOf(index, ...entries)).subarray(0, -1024);

/** A header that announces another size, with the checksum that belongs to it. */
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

/** So many attributes of extended headers (POSIX pax). */
const paxOf = (count: number): string =>
  Array.from({ length: count }, (_, at) => `9 k${String(at).padStart(3, '0')}=\n`).join('');

/** An extended header for all files that follow. */
const globalOf = async (attributes: string): Promise<Buffer> => {
  const tar = await tarOf({ name: 'g', content: attributes });
  return Buffer.concat([retyped(tar.subarray(0, 512), 'g'), tar.subarray(512, -1024)]);
};

/** @param escape a path that nothing may be written to */
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
      'another path behind the one that is seen',
      () => tgz({ name: 'good.txt', content: 'x', pax: { path: way } }),
      'archive_unsafe_path',
    ],
    [
      'a link and a file behind it',
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
      'something that nobody knows',
      async () => gzipSync(Buffer.concat([await openTar(), await unknownType()])),
      'archive_link',
    ],
    [
      'a folder of 9 000 slashes',
      () => tgz({ name: `a${'/'.repeat(9_000)}b`, type: 'directory' }),
      'archive_unsafe_path',
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
    ['the same path twice', () => tgz(index), 'archive_duplicate_path'],
    ['no index.html', () => tgzOf({ name: 'about.html', content: 'x' }), 'archive_without_index'],
    ['nothing in it', () => Promise.resolve(gzipSync('')), 'archive_without_index'],
    [
      '300 MiB of zeros',
      async () =>
        Buffer.concat([
          gzipSync(Buffer.concat([await openTar(), await announcing(octal(300 * mib))])),
          gzippedZeros(301),
        ]),
      'archive_too_large',
    ],
    [
      'zeros and no entry in 10 GiB',
      async () => Buffer.concat([gzipSync(await openTar()), gzippedZeros(10_240)]),
      'archive_too_large',
    ],
    [
      'a size that is a lie',
      async () => gzipSync(Buffer.concat([await openTar(), await announcing(octal(9999))])),
      'archive_unreadable',
    ],
    [
      'a size below zero',
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
      'a size that is no number',
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
      'another thing than a tar in it',
      () => Promise.resolve(gzipSync('<!doctype html>'.repeat(100))),
      'archive_unreadable',
    ],
    [
      'no gzip behind its first bytes',
      () => Promise.resolve(Buffer.from([0x1f, 0x8b, 0xff, 0xff, 0, 0])),
      'archive_unreadable',
    ],
    ['a program with the rights of root', () => tgz({ name: 'tool', content: 'x', mode: 0o4755 })],
    ['zeros behind its end', async () => Buffer.concat([await tgz(), zeros])],
    ['a folder by its name only', () => tgz({ name: 'old/', content: '' })],
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
