import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { anyCharacter } from '../../support/seeded-random.ts';
import { matchPath, type PathMatch } from '../../../src/adapters/edge/served-file.ts';

const files = new Set([
  'index.html',
  'about.html',
  'both',
  'both.html',
  'both/index.html',
  'docs/index.html',
  'docs/a b.txt',
  'grüße/index.html',
  'fund.html',
  'fund/index.html',
]);
const match = (target: string): PathMatch => matchPath(target, (path) => files.has(path));

describe('a path of a site', () => {
  test.each([
    ['/', 'index.html'],
    ['/?a/../b', 'index.html'],
    ['/index.html', 'index.html'],
    ['/index', 'index.html'],
    ['/about', 'about.html'],
    ['/%61%62out?x', 'about.html'],
    ['/both', 'both'],
    ['/both/', 'both/index.html'],
    ['/fund', 'fund.html'],
    ['/fund/', 'fund/index.html'],
    ['/docs/', 'docs/index.html'],
    ['/docs/a%20b.txt', 'docs/a b.txt'],
    ['/gr%C3%BC%C3%9Fe/', 'grüße/index.html'],
    ['/gru%CC%88%C3%9Fe/', 'grüße/index.html'],
  ])('%s leads to the file %s', (target, path) => {
    expect(match(target)).toEqual({ kind: 'file', path });
  });

  test.each([
    ['/docs', '/docs/'],
    ['/docs?', '/docs/?'],
    ['/docs?a=b?c', '/docs/?a=b?c'],
    ['/gr%C3%BC%C3%9Fe?d', '/gr%C3%BC%C3%9Fe/?d'],
  ])('%s leads to the folder at %s', (target, location) => {
    expect(match(target)).toEqual({ kind: 'folder', location });
  });

  test.each([
    '/x',
    '/x/',
    '/about/',
    '/About',
    ...['/.env', '/...', '/.../x', '/..a', '/%252fetc', '/toString', '/constructor', '/*'],
    '/docs/a+b.txt',
    '/%252e%252e',
    '/index.html.html',
  ])('%s leads nowhere', (target) => {
    expect(match(target)).toEqual({ kind: 'missing' });
  });

  test.each(
    [
      '',
      'index.html',
      '//',
      '/./',
      '/.',
      '/..',
      '/a/..',
      '/../',
      '/%2e%2E/',
      '/a%2fb',
      '/a%5Cb',
      '/a\\b',
      '/\0',
    ].concat([
      '/%00',
      '/%0a',
      '/%1f',
      '/%7F',
      '/%',
      '/%z',
      '/%ff',
      '/%c0%ae',
      '/%ed%a0%80',
      '/a//',
      '//evil.test/docs',
      ...['/.%2e', '/a/%2e/b', '/a/./b.html', '/%e', '/..%5csecret.html', '/a%2Fb'],
    ]),
  )('"%s" is malformed', (target) => {
    expect(match(target)).toEqual({ kind: 'malformed' });
  });

  const piece = fc.oneof(
    fc.constantFrom(
      '/',
      '.',
      '..',
      '%2e',
      '%2f',
      '%5c',
      '\\',
      '%',
      '?',
      '#',
      '%00',
      'docs',
      'index.html',
      'about',
    ),
    anyCharacter,
  );
  const anyPath = fc.array(piece, { maxLength: 10 }).map((pieces) => `/${pieces.join('')}`);

  test('never leads outside the site', () => {
    fc.assert(
      fc.property(anyPath, (target) => {
        matchPath(target, (path) => {
          expect(path).not.toMatch(/^\/|\/\/|\\|(^|\/)\.{1,2}(\/|$)/);
          expect([...path].filter((one) => one < ' ' || one === '\x7f')).toEqual([]);
          return false;
        });
      }),
      { numRuns: 300 },
    );
  });

  test('is never redirected to another host', () => {
    const everything = () => true;
    const onlyFolders = (path: string) => path.endsWith('/index.html');
    fc.assert(
      fc.property(anyPath, fc.constantFrom(everything, onlyFolders), (target, has) => {
        const found = matchPath(target, has);
        if (found.kind !== 'folder') return;
        expect(new URL(found.location, 'https://rex.test').host).toBe('rex.test');
        expect(found.location).toMatch(/^\/[^/\\].*\/(\?|$)/su);
      }),
      { numRuns: 300 },
    );
  });
});
