import { html as escaping } from 'hono/html';

declare const safe: unique symbol;
/** Markup. Everything else is escaped, in text and in attributes. */
export interface Html {
  readonly [safe]: true;
  toString(): string;
}

/** What may stand between tags. Nothing else is accepted, so that no object shows up as text. */
export type Child = Html | string | number | undefined | null | false | readonly Child[];

/** A template whose holes escape by themselves; attributes with holes stand in double quotation marks. */
export const html = (parts: TemplateStringsArray, ...holes: readonly Child[]): Html =>
  escaping(parts, ...holes) as unknown as Html;

export const nothing: Html = html``;
