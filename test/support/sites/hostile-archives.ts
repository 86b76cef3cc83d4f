import type { UploadProblem } from '../../../src/sites/domain/sites-error.ts';
import { zipOf } from './zip-bytes.ts';

/** An archive with one fault and, unless that is the fault, a good index.html. */
export interface HostileArchive {
  readonly what: string;
  readonly bytes: () => Buffer | Promise<Buffer>;
  /** Why it is refused; undefined if it is strange but harmless. */
  readonly problem: UploadProblem | undefined;
}

/** A page to go with it. */
export const index = { name: 'index.html', content: '<!doctype html><title>hostile</title>' };

/** A file written there has escaped. One folder and a name in it. */
export const escapesOf = (escape: string): { readonly folder: string; readonly name: string } => {
  const at = escape.lastIndexOf('/');
  return { folder: escape.slice(0, at), name: escape.slice(at + 1) };
};

export const mib = 1024 * 1024;
export const zeros = Buffer.alloc(mib);

export const linesOf = (
  lines: readonly (readonly [string, HostileArchive['bytes'], UploadProblem?])[],
): readonly HostileArchive[] => lines.map(([what, bytes, problem]) => ({ what, bytes, problem }));

/** First bytes that no archive has. */
export const noArchives: Readonly<Record<string, Buffer>> = {
  'a page': Buffer.from('<!doctype html>'),
  'nothing at all': Buffer.alloc(0),
  'one byte': Buffer.from([0x1f]),
  'a picture': Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
  'a RAR': Buffer.from('Rar!\x1a\x07\x01\x00', 'latin1'),
  'a bzip2': Buffer.from('BZh91AY&SY', 'latin1'),
  'a zip behind a program': Buffer.concat([Buffer.from('MZ'), zipOf([index])]),
};
