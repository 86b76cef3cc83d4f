import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Marked } from 'marked';
import { html, type Html, safeHtml } from '../frame/html.ts';
import { notFound } from '../frame/page-problem.ts';
import { type HelpPage, helpPages, helpPath } from '../frame/paths.ts';
import type { Page, Screen } from '../frame/screen.ts';

const folder = join(import.meta.dirname, '../../../../docs');

export const helpScreen = (): Screen => ({
  path: '/dashboard/help/:page',
  section: 'help',
  live: false,
  show: ({ parameters: { page = '' } }) => {
    const found = helpPages.find((one) => one === page);
    if (found === undefined) throw notFound();
    return Promise.resolve(pageOf(found));
  },
});

const made = new Map<HelpPage, Page>();

const pageOf = (page: HelpPage): Page => {
  const known = made.get(page);
  if (known) return known;
  const text = readFileSync(join(folder, `${page}.md`), 'utf8');
  const [, title = page] = /^# (.*)/m.exec(text) ?? [];
  const shown = { title, content: html`<article class="stack prose">${asHtml(text)}</article>` };
  made.set(page, shown);
  return shown;
};

const asHtml = (markdown: string): Html => {
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        return `<h${depth} id="${nameOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens);
        const target = targetOf(href);
        return target === undefined ? text : `<a href="${target}">${text}</a>`;
      },
      table({ header, rows }) {
        const heads = header.map(({ tokens }) => `<th>${this.parser.parseInline(tokens)}</th>`);
        const lines = rows.map((row) => {
          const cells = row.map(({ tokens }) => `<td>${this.parser.parseInline(tokens)}</td>`);
          return `<tr>${cells.join('')}</tr>`;
        });
        return `<div class="table" tabindex="0" role="group"><table class="tops"><thead><tr>${heads.join('')}</tr></thead><tbody>${lines.join('')}</tbody></table></div>\n`;
      },
      code({ text }) {
        return `<pre tabindex="0">${escaped(text)}</pre>\n`;
      },
      image: () => '',
    },
  });
  return safeHtml(marked.parse(markdown, { async: false }));
};

const nameOf = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .replaceAll(' ', '-');

const targetOf = (href: string): string | undefined => {
  if (/^(#|https:)/.test(href)) return href;
  const [file = '', anchor] = href.split('#');
  const page = helpPages.find((one) => `${one}.md` === file);
  if (page === undefined) return undefined;
  return `${helpPath(page)}${anchor === undefined ? '' : `#${anchor}`}`;
};

const escaped = (text: string): string => html`${text}`.toString();
