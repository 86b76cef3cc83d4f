import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  SiteInspection,
  siteLimits,
  type EntryKind,
} from '../../../src/sites/domain/site-contents.ts';
import { uploadProblems } from '../../../src/sites/domain/sites-error.ts';
import { anyCharacter } from '../../support/seeded-random.ts';
import { codeOf } from '../../support/race.ts';

const admit = (path: string, kind: EntryKind = 'file') => new SiteInspection().admit(path, kind);

const thrownBy = (work: () => unknown): Error => {
  try {
    work();
  } catch (error) {
    return error as Error;
  }
  throw new Error('nothing was thrown');
};

const refusalOf = (path: string, kind: EntryKind = 'file') => thrownBy(() => admit(path, kind));

describe('a path', () => {
  test.each([
    ['index.html', 'index.html'],
    ['./index.html', 'index.html'],
    ['././a/b.txt', 'a/b.txt'],
    ['cafe\u0301.html', 'caf\u00e9.html'],
    ['a b/…/☃ & "co".html', 'a b/…/☃ & "co".html'],
    ['...', undefined],
    ['a..b/c..', 'a..b/c..'],
    ['con.txt', 'con.txt'],
    ['.well-known/acme.txt', '.well-known/acme.txt'],
  ])('"%s" is published as "%s"', (path, published) => {
    expect(admit(path)).toBe(published);
  });

  test.each([
    ['..', 'leads out of the site'],
    ['../a', 'leads out of the site'],
    ['a/../../b', 'leads out of the site'],
    ['a/b/..', 'leads out of the site'],
    ['./../a', 'leads out of the site'],
    ['/etc/passwd', 'is absolute'],
    ['//a', 'is absolute'],
    ['C:/a', 'is absolute'],
    ['c:a', 'is absolute'],
    ['a\\b', 'has a backslash'],
    ['..\\a', 'has a backslash'],
    ['a\0b', 'has characters'],
    ['a\nb', 'has characters'],
    ['a\x7fb', 'has characters'],
    ['a\x85b', 'has characters'],
    ['a\ud800b', 'has characters'],
    ['', 'has an empty name'],
    ['a//b', 'has an empty name'],
    ['a/', 'has an empty name'],
    ['a/./b', 'has an empty name'],
    ['.', 'has an empty name'],
  ])('%j is refused: it %s', (path, why) => {
    const refusal = refusalOf(path);
    expect(codeOf(refusal)).toBe('archive_unsafe_path');
    expect(refusal.message).toContain(why);
  });

  test('may have 255 bytes in a name and 1024 in all, but not one more', () => {
    const longest = `${`${'n'.repeat(203)}/`.repeat(5)}${'n'.repeat(4)}`;
    for (const path of ['n'.repeat(255), 'é'.repeat(127), '☃'.repeat(85), '😀'.repeat(63), longest])
      expect(admit(path)).toBe(path);
    for (const path of ['n'.repeat(256), 'é'.repeat(128), '☃'.repeat(86), '😀'.repeat(64)])
      expect(codeOf(refusalOf(path))).toBe('archive_unsafe_path');
    expect(refusalOf(`${longest}n`).message).toContain('at most 1024 bytes are allowed');
  });

  test.each([
    ['slashes', '/'.repeat(200_000)],
    ['dots and slashes', './'.repeat(100_000)],
    ['accents', '\u0315\u0300'.repeat(100_000)],
  ])('of 200 000 %s is refused because of its length', (_, middle) => {
    for (const kind of ['file', 'folder'] as const) {
      const refusal = refusalOf(`a${middle}b`, kind);
      expect(codeOf(refusal)).toBe('archive_unsafe_path');
      expect(refusal.message).toContain('is too long');
      expect(refusal.message.length).toBeLessThan(200);
    }
  });

  test('counts with its full length in the archive, including the parts that are not published', () => {
    expect(admit(`${'./'.repeat(500)}index.html`)).toBe('index.html');
    expect(refusalOf(`${'./'.repeat(510)}index.html`).message).toContain('is too long');
    expect(refusalOf(`a${'/'.repeat(1024)}`, 'folder').message).toContain('is too long');
  });

  test('may lie 32 folders deep, but not deeper', () => {
    const deep = 'd/'.repeat(siteLimits.folders);
    expect(admit(`${deep}f`)).toBe(`${deep}f`);
    expect(admit(deep, 'folder')).toBeUndefined();
    for (const [path, kind] of [
      [`${deep}d/f`, 'file'],
      [`${deep}d/`, 'folder'],
    ] as const) {
      const refusal = refusalOf(path, kind);
      expect(codeOf(refusal)).toBe('archive_unsafe_path');
      expect(refusal.message).toContain('is too deep; at most 32 nested folders');
    }
  });

  /** The path as a browser would request it. */
  const asVisited = (path: string): string => {
    const encoded = path.split('/').map(encodeURIComponent).join('/');
    return decodeURIComponent(new URL(`https://birds.test/${encoded}`).pathname).slice(1);
  };

  test('made of any text is refused, or published unchanged as a relative path', () => {
    const name = fc.oneof(
      fc.constantFrom('..', '.', '', 'a', '.git', 'C:', '\\', '\0', 'index.html', '__MACOSX'),
      fc.string({ unit: anyCharacter, maxLength: 8 }),
    );
    const anyPath = fc.array(name, { minLength: 1, maxLength: 6 }).map((names) => names.join('/'));
    const kind = fc.constantFrom<EntryKind>('file', 'folder', 'link', 'other');
    fc.assert(
      fc.property(anyPath, kind, (path, its) => {
        let published: string | undefined;
        try {
          published = admit(path, its);
        } catch (error) {
          expect(uploadProblems).toContain(codeOf(error));
          expect((error as Error).message).toMatch(/^\P{Cc}+$/u);
          return;
        }
        if (published === undefined) return;
        expect(its).toBe('file');
        expect(published).toBe(published.normalize('NFC'));
        expect(published).not.toMatch(/^\/|^[A-Za-z]:|\\|\p{Cc}|(^|\/)\.{0,2}(\/|$)/u);
        expect(asVisited(published)).toBe(published);
        expect(admit(published)).toBe(published);
      }),
      { numRuns: 500 },
    );
  });

  test('in an error message is shortened and has no control characters', () => {
    const { message } = refusalOf(`/\x1b[31m\u202e${'😀'.repeat(80)}`);
    expect(message).toMatch(/^The path "\/�\[31m�😀+�?…" has characters/u);
    expect(message.isWellFormed()).toBe(true);
    expect(message.length).toBeLessThan(200);
  });
});

describe('an upload', () => {
  const inspect = (...paths: readonly string[]) => {
    const inspection = new SiteInspection();
    for (const path of paths) inspection.admit(path, 'file');
    return inspection;
  };

  test('is counted when it is complete', () => {
    const inspection = inspect('index.html', 'img/rex.jpg', '.htaccess');
    inspection.admit('img/', 'folder');
    inspection.count(10);
    inspection.count(0);
    inspection.count(5);
    expect(inspection.finish()).toEqual({ files: 2, bytes: 15, leftOut: 1 });
  });

  test.each([
    'a/.env',
    'a/.git/config',
    '.cache/b',
    '.well-known/.hidden',
    '__MACOSX/._index.html',
    'a/._b',
    '.DS_Store',
  ])('is published without %s', (path) => {
    const inspection = new SiteInspection();
    expect(inspection.admit(path, 'file')).toBeUndefined();
    inspection.admit('index.html', 'file');
    expect(inspection.finish()).toEqual({ files: 1, bytes: 0, leftOut: 1 });
  });

  test.each([
    [['birds/index.html', 'birds/img/rex.jpg', '__MACOSX/._birds', '.DS_Store'], 'birds/'],
    [['birds/img/rex.jpg', 'birds/index.html'], 'birds/'],
    [['index.html', 'birds/index.html'], ''],
  ])('with the files %j is wrapped in the folder %j', (paths, folder) => {
    const inspection = inspect(...paths);
    expect(inspection.finish().files).toBe(2);
    expect(inspection.wrapping()).toBe(folder);
  });

  test.each([
    [['.env'], 'file', '".env"'],
    [['.git/'], 'folder', '".git"'],
    [['index.html', 'node_modules/left-pad/index.js'], 'file', '"node_modules"'],
    [['shop/index.html', 'shop/.git/config', '__MACOSX/._shop'], 'file', '"shop/.git"'],
    [['shop/.env', 'shop/index.html'], 'file', '"shop/.env"'],
  ] as const)(
    'is refused with %j at its top level, because that is not a site',
    (paths, kind, named) => {
      const refusal = thrownBy(() => {
        const inspection = new SiteInspection();
        for (const path of paths) inspection.admit(path, kind);
        inspection.finish();
      });
      expect(codeOf(refusal)).toBe('archive_unwanted');
      expect(refusal.message).toContain(named);
    },
  );

  test('is refused if it has too many files, with the name of the packages that fill it', () => {
    const inspection = inspect('shop/index.html');
    const refusal = thrownBy(() => {
      for (let n = 0; n <= siteLimits.entries; n++)
        inspection.admit(`shop/node_modules/${String(n)}.js`, 'file');
    });
    expect(codeOf(refusal)).toBe('archive_unwanted');
  });

  test('may have a folder "docs/node_modules" or "a/.git" that is not at its top level', () => {
    const inspection = inspect('index.html', 'docs/node_modules/a.js', 'a/.git/config');
    expect(inspection.finish()).toMatchObject({ files: 2, leftOut: 1 });
  });

  test.each(['', '.', './', 'img', 'img/', './img/'])('may contain the folder "%s"', (path) => {
    expect(admit(path, 'folder')).toBeUndefined();
  });

  test.each(['../a/', '/a', 'a/../..', 'a\\b', 'a\0'])(
    'may not have the folder %j in it',
    (path) => {
      expect(codeOf(refusalOf(path, 'folder'))).toBe('archive_unsafe_path');
    },
  );

  test.each(['link', 'other'] as const)('may not have anything of the kind "%s" in it', (kind) => {
    const refusal = refusalOf('a/rex', kind);
    expect(codeOf(refusal)).toBe('archive_link');
    expect(refusal.message).toContain('"a/rex"');
  });

  test.each([
    [['index.html', 'index.html'], 'index.html'],
    [['index.html', './index.html'], 'index.html'],
    [['caf\u00e9', 'cafe\u0301'], 'caf\u00e9'],
    [['a', 'a/b'], 'a'],
    [['a/b/c/d', 'a/b'], 'a/b'],
    [['a/b', 'a/b/c/d'], 'a/b'],
  ])('may not have %j in it', (paths, named) => {
    const refusal = thrownBy(() => inspect(...paths));
    expect(codeOf(refusal)).toBe('archive_duplicate_path');
    expect(refusal.message).toContain(`"${named}"`);
  });

  test('may contain names that differ in case, or begin like a folder', () => {
    const paths = ['index.html', 'Index.html', 'a/b', 'a.html', 'ab/c', 'A'];
    expect(inspect(...paths).finish()).toMatchObject({ files: paths.length });
  });

  test('may have 10 000 entries of any kind, but not one more', () => {
    const inspection = inspect('index.html');
    for (let n = 1; n < siteLimits.entries; n++) {
      if (n % 2) inspection.admit(`f${String(n)}`, 'file');
      else inspection.admit(`.cache/${String(n)}`, n % 4 ? 'file' : 'folder');
    }
    expect(inspection.finish()).toMatchObject({ files: 5001, leftOut: 2500 });
    const refusal = thrownBy(() => inspection.admit('one-more/', 'folder'));
    expect(codeOf(refusal)).toBe('archive_too_many_entries');
    expect(refusal.message).toContain('10000');
  });

  test('counts folders that only appear in file paths, each once', () => {
    const inspection = inspect('index.html');
    for (let n = 1; n < siteLimits.entries / 4; n++) {
      inspection.admit(`a${String(n)}/b/f`, 'file');
      inspection.admit(`a${String(n)}/b/g`, 'file');
    }
    // 1 + 2499 times two folders and two files.
    for (const path of ['x', 'y', 'z']) inspection.admit(path, 'file');
    const refusal = thrownBy(() => inspection.admit('one-more', 'file'));
    expect(codeOf(refusal)).toBe('archive_too_many_entries');
  });

  test.each([
    ['before its files', ['a/', 'a/b/', 'a/b/f']],
    ['after its files', ['a/b/f', 'a/b/', 'a/']],
  ])('counts a folder once if it has an entry %s', (_, paths) => {
    const inspection = inspect('index.html');
    for (const path of paths) inspection.admit(path, path.endsWith('/') ? 'folder' : 'file');
    for (let n = 4; n < siteLimits.entries; n++) inspection.admit(`f${String(n)}`, 'file');
    expect(codeOf(thrownBy(() => inspection.admit('one-more', 'file')))).toBe(
      'archive_too_many_entries',
    );
  });

  test('counts each entry for the same folder', () => {
    const inspection = new SiteInspection();
    for (let n = 0; n < siteLimits.entries; n++) inspection.admit('a/', 'folder');
    const refusal = thrownBy(() => inspection.admit('a/', 'folder'));
    expect(codeOf(refusal)).toBe('archive_too_many_entries');
  });

  test('may have thousands of deeply nested files', () => {
    const inspection = inspect('index.html');
    const folder = `${'d'.repeat(30)}/`.repeat(siteLimits.folders);
    for (let n = 0; n < 2_000; n++) inspection.admit(`${folder}${String(n)}`, 'file');
    expect(inspection.finish()).toMatchObject({ files: 2_001 });
  });

  test('may have 200 MiB, but not one byte more', () => {
    const inspection = inspect('index.html');
    inspection.count(siteLimits.bytes - 1);
    inspection.count(1);
    expect(inspection.finish()).toMatchObject({ bytes: 200 * 1024 * 1024 });
    const refusal = thrownBy(() => inspection.count(1));
    expect(codeOf(refusal)).toBe('archive_too_large');
    expect(refusal.message).toContain('200 MiB');
  });

  test.each([
    [[], 'Add the page'],
    [['about.html', 'Index.html', 'index.htm'], 'Add the page'],
    [['dist/index.html', 'read-me.txt'], 'There is "dist/index.html"'],
    [['birds/index.html', 'dist/index.html'], 'There is "birds/index.html"'],
    [['birds/dist/index.html'], 'There is "birds/dist/index.html"'],
    [['.well-known/index.html'], 'There is ".well-known/index.html"'],
    [['.hidden/index.html'], 'Add the page'],
  ])('without index.html at its top level is refused: %j', (paths, hint) => {
    const refusal = thrownBy(() => inspect(...paths).finish());
    expect(codeOf(refusal)).toBe('archive_without_index');
    expect(refusal.message).toContain(hint);
  });

  test('never publishes a file in place of a folder', () => {
    const names = fc.constantFrom('a', 'b', 'A', 'index.html');
    const paths = fc.array(
      fc.array(names, { minLength: 1, maxLength: 4 }).map((all) => all.join('/')),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(paths, (given) => {
        const inspection = new SiteInspection();
        const published = new Set<string>();
        for (const path of given) {
          const clashes = [...published].some(
            (one) => one === path || one.startsWith(`${path}/`) || path.startsWith(`${one}/`),
          );
          if (clashes) {
            expect(codeOf(thrownBy(() => inspection.admit(path, 'file')))).toBe(
              'archive_duplicate_path',
            );
          } else {
            published.add(inspection.admit(path, 'file')!);
          }
        }
      }),
    );
  });
});
