import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, test } from '@jest/globals';
import { textFiles } from '../support/text-parsers.ts';

/** Methods that scan a whole text, some of them many times. */
const methods = new Set(['match', 'matchAll', 'normalize', 'search', 'split']);
/** Functions that parse a text too. */
const functions = new Set([
  'BigInt',
  'JSON.parse',
  'RegExp',
  'URL',
  'URL.parse',
  'URLSearchParams',
]);

/** The number of patterns and parsing calls in each file of a folder. Files without any are left out. */
const textOperations = (folder: string): ReadonlyMap<string, number> => {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .sort();
  const counted = files.map((name) => [name, countIn(join(folder, name))] as const);
  return new Map(counted.filter(([, count]) => count > 0));
};

const countIn = (path: string): number => {
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest);
  let count = 0;
  const visit = (node: ts.Node): void => {
    if (isOperation(node, source)) count += 1;
    ts.forEachChild(node, visit);
  };
  visit(source);
  return count;
};

const isOperation = (node: ts.Node, source: ts.SourceFile): boolean => {
  if (ts.isRegularExpressionLiteral(node)) return true;
  if (!ts.isCallExpression(node) && !ts.isNewExpression(node)) return false;
  const called = node.expression;
  if (functions.has(called.getText(source))) return true;
  return ts.isPropertyAccessExpression(called) && methods.has(called.name.text);
};

const found = textOperations('src');

const known = (path: string) =>
  textFiles[path] ??
  Object.entries(textFiles).find(([key]) => key.endsWith('/') && path.startsWith(key))?.[1];

describe('test/support/text-parsers.ts', () => {
  test('names each file of src that parses text', () => {
    // For a new file: list its parsers, so that they are tried with long texts, or say why it gets no long text.
    expect([...found.keys()].filter((path) => known(path) === undefined)).toEqual([]);
  });

  test('knows how many patterns each of them has', () => {
    // When a pattern was added: make sure a listed parser reaches it, then correct the number.
    const listed = Object.entries(textFiles).flatMap(([path, file]) =>
      typeof file === 'string' ? [] : [[path, file.operations] as const],
    );
    expect(listed).toEqual(listed.map(([path]) => [path, found.get(path) ?? 0]));
  });

  test('names no file that no longer parses text', () => {
    const paths = [...found.keys()];
    const stale = Object.entries(textFiles).filter(
      ([key, file]) =>
        typeof file === 'string' &&
        !paths.some((path) => path === key || (key.endsWith('/') && path.startsWith(key))),
    );
    expect(stale).toEqual([]);
  });
});
