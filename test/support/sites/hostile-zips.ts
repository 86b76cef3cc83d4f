import { constants, crc32, deflateRawSync } from 'node:zlib';
import { escapesOf, index, linesOf, mib, zeros, type HostileArchive } from './hostile-archives.ts';
import { regularFile, zip64Of, zipOf, type ZipEntry } from './zip-bytes.ts';

/** So many MiB of zeros, deflated: pieces that stand alone, one after the other. */
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

/** @param escape a path that nothing may be written to */
export const hostileZips = (escape: string): readonly HostileArchive[] => {
  const { folder, name } = escapesOf(escape);
  const link = (path: string, to: string) => ({ name: path, content: to, mode: 0o120777 });
  return linesOf([
    ['a path that leads out', () => file(`../../${name}`), 'archive_unsafe_path'],
    ['a way out further on', () => file(`a/../../../${name}`), 'archive_unsafe_path'],
    ['an absolute path', () => file(escape), 'archive_unsafe_path'],
    ['backslashes', () => file(`..\\..\\${name}`), 'archive_unsafe_path'],
    ['a drive letter', () => file('C:/escape.txt'), 'archive_unsafe_path'],
    ['a control character', () => file('a\x01b'), 'archive_unsafe_path'],
    ['a NUL', () => file('a\0.html'), 'archive_unsafe_path'],
    ['a name without a name', () => file(''), 'archive_unsafe_path'],
    ['a long name', () => file('a'.repeat(5000)), 'archive_unsafe_path'],
    ['1500 folders in each other', () => file(`${'d/'.repeat(1500)}f`), 'archive_unsafe_path'],
    ['a link', () => zip(link('link', '/etc/passwd')), 'archive_link'],
    [
      'a link and a file behind it',
      () => zip(link('d', folder), { name: `d/${name}` }),
      'archive_link',
    ],
    ['a device', () => zip({ name: 'dev', mode: 0o020666 }), 'archive_link'],
    ['a pipe', () => zip({ name: 'pipe', mode: 0o010666 }), 'archive_link'],
    ['the same path twice', () => zip(index), 'archive_duplicate_path'],
    [
      'one path in two spellings of Unicode',
      () => zip({ name: 'caf\u00e9' }, { name: 'cafe\u0301' }),
      'archive_duplicate_path',
    ],
    [
      'a file that is a folder',
      () => zip({ name: 'a' }, { name: 'a/b' }),
      'archive_duplicate_path',
    ],
    ['no index.html', () => zipOf([{ name: 'about.html' }]), 'archive_without_index'],
    ['nothing in it', () => zipOf([]), 'archive_without_index'],
    [
      '10 001 entries',
      () =>
        zip(...Array.from({ length: 10_000 }, (_, n) => ({ name: `d${String(n)}/`, content: '' }))),
      'archive_too_many_entries',
    ],
    ['300 MiB of zeros', () => zip(bomb(300)), 'archive_too_large'],
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
    ['a size that is a lie', () => zip(bomb(300, 10)), 'archive_unreadable'],
    ['less in it than announced', () => zip({ name: 'a', size: 2 }), 'archive_unreadable'],
    [
      'a stored size that is a lie',
      () => zip({ name: 'a', method: 0, size: 2 }),
      'archive_unreadable',
    ],
    ['a wrong checksum', () => zip({ name: 'a', crc: 1 }), 'archive_unreadable'],
    [
      'something behind a compressed file',
      () => zip({ name: 'a', packed: Buffer.concat([deflateRawSync(Buffer.from('x')), zeros]) }),
      'archive_unreadable',
    ],
    ['no deflate where it says so', () => zip({ name: 'a', packed: zeros }), 'archive_unreadable'],
    ['its end cut off', () => file('a').subarray(0, -10), 'archive_unreadable'],
    ['its second half cut off', () => file('a').subarray(0, 80), 'archive_unreadable'],
    ['something behind its end', () => Buffer.concat([file('a'), zeros]), 'archive_unreadable'],
    ['fewer entries than announced', () => zipOf([index], 2), 'archive_unreadable'],
    ['an entry that is elsewhere', () => zip({ name: 'a', localOffset: 5 }), 'archive_unreadable'],
    [
      'an entry that is behind its end',
      () => zip({ name: 'a', localOffset: 0xfffffff0 }),
      'archive_unreadable',
    ],
    [
      'an entry that is beyond all numbers',
      () => zip({ name: 'a', localOffset: 0xffffffff, extra: farAway() }),
      'archive_unreadable',
    ],
    [
      'a directory that is beyond all numbers',
      () => zip64Of(file('a'), BigInt(file('a').length), 2n ** 63n),
      'archive_unreadable',
    ],
    [
      'an end that is beyond all numbers',
      () => zip64Of(file('a'), 2n ** 63n, 0n),
      'archive_unreadable',
    ],
    ['an encrypted file', () => zip({ name: 'a', flags: encrypted }), 'archive_unsupported'],
    [
      'a strongly encrypted file',
      () => zip({ name: 'a', flags: stronglyEncrypted }),
      'archive_unsupported',
    ],
    ['an unusual method', () => zip({ name: 'a', method: 14 }), 'archive_unsupported'],
    ['a program with the rights of root', () => zip({ name: 'tool', mode: regularFile | 0o4755 })],
    ['two names that differ in case', () => file('Index.html')],
    ['an archive in it', () => zip({ name: 'inner.zip', content: zip(bomb(300)) })],
    ['a name that is no UTF-8', () => file(Buffer.from([0x63, 0xe9, 0x2e, 0x74]))],
    ['a name in an old code page', () => zip({ name: Buffer.from([0x82]), flags: noUtf8 })],
    ['a bomb that is left out', () => zip({ ...bomb(300), name: '.git/zeros' })],
  ]);
};
