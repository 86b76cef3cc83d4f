import type { Tone } from './letter.ts';

// The colours of the dashboard (frame/tokens.css), written out: mail programs know no variables.
const light = {
  ...{ ground: '#f6f7f5', card: '#ffffff', line: '#dde3e0', text: '#17211f', quiet: '#55625e' },
  ...{ accent: '#0f766e', button: '#0f766e' },
};
const dark = {
  ...{ ground: '#101413', card: '#181d1c', line: '#2d3634', text: '#e8eeec', quiet: '#a3b0ac' },
  ...{ accent: '#5cc9be', button: '#128076' },
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

/** For the light theme, and for programs that know only inline styles. */
export const inline = {
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

/** For the dark theme. The attribute is what Outlook on the web sets there instead. */
export const darkStyle = [
  ':root{color-scheme:light dark;supported-color-schemes:light dark}',
  `@media (prefers-color-scheme:dark){${darkRules.join('')}}`,
  ...darkRules.map((rule) => `[data-ogsc] ${rule}`),
].join('\n');
