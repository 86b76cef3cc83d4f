import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, test } from '@jest/globals';
import { textFiles, trustingFiles } from '../support/text-parsers.ts';

/** Methods that scan a whole text, some of them repeatedly. */
const methods = new Set(['match', 'matchAll', 'normalize', 'search', 'split']);
/** Functions that also parse a text. */
const functions = new Set([
  'BigInt',
  'JSON.parse',
  'RegExp',
  'URL',
  'URL.parse',
  'URLSearchParams',
]);

/** The files of a folder that parse text. */
const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && parsesText(join(folder, name)))
    .sort();

const parsesText = (path: string): boolean => {
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest);
  const isIn = (node: ts.Node): boolean =>
    isOperation(node, source) || ts.forEachChild(node, isIn) === true;
  return isIn(source);
};

const isOperation = (node: ts.Node, source: ts.SourceFile): boolean => {
  if (ts.isRegularExpressionLiteral(node)) return true;
  if (!ts.isCallExpression(node) && !ts.isNewExpression(node)) return false;
  const called = node.expression;
  if (functions.has(called.getText(source))) return true;
  return ts.isPropertyAccessExpression(called) && methods.has(called.name.text);
};

const found = filesIn('src');
const trusting = Object.values(trustingFiles).flat();
const isFor = (listed: string, path: string): boolean =>
  listed === path || (listed.endsWith('/') && path.startsWith(listed));

test('every file of src that parses text is tested with long texts or is listed as receiving none', () => {
  const listed = [...Object.keys(textFiles), ...trusting];
  expect(found.filter((path) => !listed.some((one) => isFor(one, path)))).toEqual([]);
});

test('every file that is listed as receiving no long texts does parse text', () => {
  expect(trusting.filter((one) => !found.some((path) => isFor(one, path)))).toEqual([]);
});
