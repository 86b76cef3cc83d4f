import { describe, expect, test } from '@jest/globals';
import { textOperations } from '../support/text-operations.ts';
import { textFiles } from '../support/text-parsers.ts';

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
