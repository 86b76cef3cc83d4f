import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

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
export const textOperations = (folder: string): ReadonlyMap<string, number> => {
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
