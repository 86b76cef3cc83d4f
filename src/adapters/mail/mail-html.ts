import { html as escaping, raw } from 'hono/html';
import type { HtmlEscapedString } from 'hono/utils/html';
import type { Action, Item, Letter } from './letter.ts';
import { darkStyle, inline } from './mail-style.ts';

type Child = HtmlEscapedString | string | false | readonly Child[];

/** A template whose holes escape by themselves; attributes with holes stand in double quotation marks. */
const html = (parts: TemplateStringsArray, ...holes: readonly Child[]): HtmlEscapedString =>
  // Only a hole with a promise would make it one.
  escaping(parts, ...holes) as HtmlEscapedString;

/** For mail programs: tables and inline styles, in one column; dark where they know the theme; nothing is loaded. */
export const mailHtml = (letter: Letter): string =>
  `<!doctype html>\n${html`<html lang="en" dir="ltr">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <meta name="supported-color-schemes" content="light dark">
  <meta name="format-detection" content="telephone=no, date=no, address=no, email=no, url=no">
  <title>${letter.subject}</title>
  <style>
${raw(darkStyle)}
  </style>
</head>
<body class="ground" style="${inline.body}">
  <div style="${inline.preview}">${letter.text}</div>
  ${table(
    inline.ground,
    html`<tr><td class="ground" align="center" style="${inline.around}">
    <!--[if mso]><table role="presentation" width="600" cellpadding="0" cellspacing="0"><tr><td><![endif]-->
    ${table(inline.column, column(letter))}
    <!--[if mso]></td></tr></table><![endif]-->
  </td></tr>`,
  )}
</body>
</html>`}\n`;

const table = (style: string, rows: Child): HtmlEscapedString =>
  html`<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="${style}">${rows}</table>`;

const column = ({ tone, title, text, items, action, account, footer }: Letter) => html`
    <tr><td style="${inline.head}"><span class="accent" style="${inline.brand}">Animal Store</span><span class="quiet" style="${inline.account}"> · <bdi>${account}</bdi></span></td></tr>
    <tr><td class="card edge-${tone}" style="${inline.card}${inline.edge(tone)}">
      <h1 class="text" style="${inline.title}">${title}</h1>
      <p class="text" style="${inline.text}">${text}</p>
      ${items.map(itemOf)}
      ${button(action)}
    </td></tr>
    <tr><td style="${inline.footer}">
      <p class="quiet" style="${inline.footerText}">${footer.why}</p>
      ${footer.actions.length > 0 && html`<p class="quiet" style="${inline.footerText}">${footer.actions.map(footerLink)}</p>`}
    </td></tr>`;

const itemOf = ({ tone, title, text, action }: Item) =>
  html`<div style="${inline.item}"><div class="side-${tone}" style="${inline.itemBody}${inline.side(tone)}">
        <h2 class="text" style="${inline.itemTitle}">${title}</h2>
        <p class="quiet" style="${inline.itemText}">${text}</p>
        <a class="accent" style="${inline.link}" href="${action.url}">${action.text}</a>
      </div></div>
      `;

/** A cell has the colour, because some programs ignore the padding of a link. */
const button = ({ text, url }: Action) =>
  html`<table role="presentation" cellpadding="0" cellspacing="0" border="0" style="${inline.buttonTable}"><tr><td class="button" style="${inline.buttonCell}"><a href="${url}" style="${inline.button}">${text}</a></td></tr></table>`;

const footerLink = ({ text, url }: Action, index: number) =>
  html`${index > 0 && ' · '}<a class="quiet" style="${inline.footerLink}" href="${url}">${text}</a>`;
