import { Composer, CST, Lexer, Parser, type Document, type ParseOptions } from 'yaml';

export class NotPlainYaml extends Error {
  override readonly name = 'NotPlainYaml';
}

/** YAML features that make parsing expensive or have hidden effects. Settings need none of them. */
const refused: Partial<Record<CST.TokenType, string>> = {
  tag: 'Tags such as !!str are not allowed',
  anchor: 'Anchors (&) are not allowed',
  alias: 'Aliases (*) are not allowed',
  'directive-line': 'Directives (%) are not allowed',
  'explicit-key-ind': 'Keys after a question mark are not allowed',
};

const deepest = 16;
/** Settings of 16 KiB have about 6 000 tokens. The library is slow with more. */
const mostTokens = 8_000;

/** Parses YAML 1.2 without the refused features. JSON is valid too. @throws NotPlainYaml */
export const parsePlainYaml = (text: string): unknown => {
  refuseUnwanted(text);
  const document = documentIn(text);
  const [error] = document?.errors ?? [];
  if (error) throw notPlain(error.message, text, error.pos[0]);
  return document?.toJS();
};

const documentIn = (text: string): Document.Parsed | undefined => {
  // Without these options, the library would print warnings that quote the text.
  const options = { logLevel: 'silent', prettyErrors: false, uniqueKeys: false, stringKeys: true };
  const composer = new Composer(options as ParseOptions);
  const found: Document.Parsed[] = [];
  for (const part of new Parser().parse(text)) {
    if (part.type === 'error') throw notPlain(part.message, text, part.offset);
    found.push(...(composer.next(part) as Iterable<Document.Parsed>));
    if (found.length > 1) break;
  }
  found.push(...(composer.end() as Iterable<Document.Parsed>));
  const [document, second] = found;
  if (second) throw notPlain('More than one document is not allowed', text, second.range[0]);
  return document;
};

type Kind = CST.TokenType | 'content' | null;

interface Seen {
  tokens: number;
  flow: number;
  dashes: number;
  colons: number;
  isAfterValue: boolean;
}

const refuseUnwanted = (text: string): void => {
  const seen: Seen = { tokens: 0, flow: 0, dashes: 0, colons: 0, isAfterValue: false };
  let offset = 0;
  let isContent = false;
  for (const token of new Lexer().lex(text)) {
    const kind: Kind = isContent ? 'content' : CST.tokenType(token);
    const isBeside = seen.isAfterValue && begins.has(kind);
    note(seen, kind, token);
    const why = isBeside
      ? 'Two values side by side are not allowed'
      : whyRefused(seen, kind, token);
    if (why !== undefined) throw notPlain(why, text, offset);
    isContent = kind === 'scalar';
    if (!marks.has(token)) offset += token.length;
  }
};

const marks: ReadonlySet<string> = new Set([CST.DOCUMENT, CST.FLOW_END, CST.SCALAR]);

const begins = new Set<Kind>([
  'scalar',
  'single-quoted-scalar',
  'double-quoted-scalar',
  'flow-seq-start',
  'flow-map-start',
]);
const ends = new Set<Kind>([
  'content',
  'single-quoted-scalar',
  'double-quoted-scalar',
  'flow-seq-end',
  'flow-map-end',
]);

const note = (seen: Seen, kind: Kind, token: string): void => {
  seen.tokens += 1;
  if (kind !== 'space') seen.isAfterValue = ends.has(kind);
  if (kind === 'flow-seq-start' || kind === 'flow-map-start') seen.flow += 1;
  else if (kind === 'flow-seq-end' || kind === 'flow-map-end') seen.flow -= 1;
  else if (kind === 'seq-item-ind') seen.dashes += 1;
  else if (kind === 'map-value-ind' && seen.flow === 0) seen.colons += 1;
  // A multi-line text includes its last line break.
  else if (kind === 'newline' || token.endsWith('\n')) {
    Object.assign(seen, { dashes: 0, colons: 0, isAfterValue: false });
  }
};

const whyRefused = (
  { tokens, flow, dashes, colons }: Seen,
  kind: Kind,
  token: string,
): string | undefined => {
  if (tokens > mostTokens) return 'It has too many values';
  if (Math.max(flow, dashes) > deepest) {
    return `More than ${deepest} nested lists or objects are not allowed`;
  }
  if (colons > 1) return 'Two values on one line are not allowed';
  if (flow < 0) return 'A bracket that closes nothing';
  if (kind === 'content') return token === '<<' ? 'Merge keys (<<) are not allowed' : undefined;
  return kind === null ? 'A character that has no meaning here' : refused[kind];
};

const notPlain = (why: string, text: string, offset: number): NotPlainYaml => {
  const before = text.slice(0, offset).split('\n');
  return new NotPlainYaml(
    `${why} (line ${before.length}, column ${(before.at(-1) ?? '').length + 1}).`,
  );
};
