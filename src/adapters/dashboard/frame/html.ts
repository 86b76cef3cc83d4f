import { html as escaping, raw } from 'hono/html';

declare const safe: unique symbol;
/** Markup. Everything else is escaped, in text and in attributes. */
export interface Html {
  readonly [safe]: true;
  toString(): string;
}

/** What may stand between tags. Nothing else is accepted, so that no object shows up as text. */
export type Child = Html | string | number | undefined | null | false | readonly Child[];

/**
 * A template whose holes escape by themselves; attributes with holes stand in double quotation marks. What changes the
 * direction of text shows as a gap, so that a name cannot reverse the words around it.
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
