import { html as escaping, raw } from 'hono/html';
import type { HtmlEscapedString } from 'hono/utils/html';
import type { NotificationContent } from '../../notifications/domain/notification.ts';
import {
  letterOf,
  summaryOf,
  wrapped,
  type Action,
  type Envelope,
  type Item,
  type Letter,
  type Tone,
} from './letter.ts';

export interface RenderedMail {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export const renderMail = (mail: NotificationContent & Envelope): RenderedMail =>
  rendered(letterOf(mail, mail));

export const renderSummary = (
  mail: Envelope & { readonly told: readonly NotificationContent[] },
): RenderedMail => rendered(summaryOf(mail.told, mail));

const rendered = (letter: Letter): RenderedMail => ({
  subject: letter.subject,
  text: mailText(letter),
  html: mailHtml(letter),
});

const mailText = ({ footer, items, ...letter }: Letter): string =>
  [
    ...[wrapped(letter.title), wrapped(letter.text)],
    ...items.map(itemText),
    actionText(letter.action),
    // Mail programs treat the text after this line as a signature (RFC 3676, section 4.3).
    ['-- ', wrapped(footer.why), ...footer.actions.map(actionText)].join('\n'),
  ].join('\n\n') + '\n';

const itemText = ({ title, text, action }: Item): string =>
  [wrapped(`* ${title}`), wrapped(text), actionText(action)].join('\n');

const actionText = ({ text, url }: Action): string => `${text}:\n${url}`;

type Child = HtmlEscapedString | string | false | readonly Child[];

/** Escapes all values. Attributes with values need double quotation marks. */
const html = (parts: TemplateStringsArray, ...holes: readonly Child[]): HtmlEscapedString =>
  escaping(parts, ...holes) as HtmlEscapedString;

const mailHtml = (letter: Letter): string =>
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

/** The cell has the colour, because some mail programs ignore a link's padding. */
const button = ({ text, url }: Action) =>
  html`<table role="presentation" cellpadding="0" cellspacing="0" border="0" style="${inline.buttonTable}"><tr><td class="button" style="${inline.buttonCell}"><a href="${url}" style="${inline.button}">${text}</a></td></tr></table>`;

const footerLink = ({ text, url }: Action, index: number) =>
  html`${index > 0 && ' · '}<a class="quiet" style="${inline.footerLink}" href="${url}">${text}</a>`;

// The dashboard's colours (frame/tokens.css). Mail programs do not support variables.
const light = {
  ground: '#f6f7f5',
  card: '#ffffff',
  line: '#dde3e0',
  text: '#17211f',
  quiet: '#55625e',
  accent: '#0f766e',
  button: '#0f766e',
};
const dark = {
  ground: '#101413',
  card: '#181d1c',
  line: '#2d3634',
  text: '#e8eeec',
  quiet: '#a3b0ac',
  accent: '#5cc9be',
  button: '#128076',
};
const tones: Readonly<Record<Tone, { readonly light: string; readonly dark: string }>> = {
  good: { light: '#13703f', dark: '#6cd39a' },
  busy: { light: '#b26a00', dark: '#f0bd63' },
  bad: { light: '#b3261e', dark: '#ff9c92' },
  idle: { light: '#7d8a86', dark: '#7b8986' },
};

const font =
  "font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;";
const breaks = 'word-break:break-word;overflow-wrap:anywhere;';
const quietText = `color:${light.quiet};font-size:13px;line-height:20px;${breaks}`;

const inline = {
  body: `margin:0;padding:0;background-color:${light.ground};${font}-webkit-text-size-adjust:100%;`,
  ground: `background-color:${light.ground};`,
  preview: 'display:none;max-height:0;overflow:hidden;mso-hide:all;',
  around: 'padding:24px 12px;',
  column: 'max-width:600px;margin:0 auto;',
  head: `padding:0 4px 12px;${font}font-size:14px;line-height:20px;${breaks}`,
  brand: `color:${light.accent};font-weight:700;`,
  account: `color:${light.quiet};`,
  card: `background-color:${light.card};border:1px solid ${light.line};border-radius:12px;padding:28px 24px;${font}`,
  title: `margin:0 0 12px;color:${light.text};font-size:22px;line-height:29px;font-weight:650;${breaks}`,
  text: `margin:0;color:${light.text};font-size:16px;line-height:25px;${breaks}`,
  item: 'padding:20px 0 0;',
  itemBody: 'padding:0 0 0 14px;',
  itemTitle: `margin:0 0 4px;color:${light.text};font-size:16px;line-height:23px;font-weight:650;${breaks}`,
  itemText: `margin:0 0 4px;color:${light.quiet};font-size:15px;line-height:23px;${breaks}`,
  link: `color:${light.accent};font-size:15px;line-height:23px;font-weight:600;`,
  buttonTable: 'margin:24px 0 0;',
  buttonCell: `background-color:${light.button};border-radius:8px;`,
  button: `display:inline-block;padding:12px 22px;color:#ffffff;${font}font-size:16px;line-height:22px;font-weight:600;text-decoration:none;`,
  footer: `padding:16px 4px 0;${font}${quietText}`,
  footerText: `margin:0 0 6px;${quietText}`,
  footerLink: `color:${light.quiet};text-decoration:underline;`,
  edge: (tone: Tone) => `border-top:4px solid ${tones[tone].light};`,
  side: (tone: Tone) => `border-left:4px solid ${tones[tone].light};`,
} as const;

const darkRules = [
  `.ground{background-color:${dark.ground}!important}`,
  `.card{background-color:${dark.card}!important;border-color:${dark.line}!important}`,
  `.text{color:${dark.text}!important}`,
  `.quiet{color:${dark.quiet}!important}`,
  `.accent{color:${dark.accent}!important}`,
  `.button{background-color:${dark.button}!important}`,
  ...Object.entries(tones).map(([tone, { dark: colour }]) => [
    `.edge-${tone}{border-top-color:${colour}!important}`,
    `.side-${tone}{border-left-color:${colour}!important}`,
  ]),
].flat();

/** Outlook on the web sets the attribute `data-ogsc` in dark mode. */
const darkStyle = [
  ':root{color-scheme:light dark;supported-color-schemes:light dark}',
  `@media (prefers-color-scheme:dark){${darkRules.join('')}}`,
  ...darkRules.map((rule) => `[data-ogsc] ${rule}`),
].join('\n');
