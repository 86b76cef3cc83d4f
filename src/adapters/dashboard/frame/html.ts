import { html as escaping, raw } from 'hono/html';

declare const safe: unique symbol;
/** Trusted markup. All other values are escaped, in text and in attributes. */
export interface Html {
  readonly [safe]: true;
  toString(): string;
}

/** Values allowed between tags. Objects are refused, so that none appears as text. */
export type Child = Html | string | number | undefined | null | false | readonly Child[];

/**
 * Escapes all values. Attributes with values need double quotation marks. Characters that change the direction of text
 * appear as gaps, so that a name cannot reverse the words around it.
 */
export const html = (parts: TemplateStringsArray, ...holes: readonly Child[]): Html =>
  escaping(parts, ...holes.map(undirected)) as unknown as Html;

const undirected = (hole: Child): Child => {
  if (typeof hole === 'string') return hole.replace(/\p{Bidi_Control}+/gu, '\u{fffd}');
  return isList(hole) ? hole.map(undirected) : hole;
};

const isList = (hole: Child): hole is readonly Child[] => Array.isArray(hole);

export const nothing: Html = html``;

export const safeHtml = (markup: string): Html => raw(markup) as unknown as Html;
