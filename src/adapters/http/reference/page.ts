import { Marked } from 'marked';
import type { OpenApiDocument } from './openapi.ts';
import { referenceMarkdown } from './markdown.ts';

/** Addresses are relative, so that the page works below any prefix that a proxy adds. */
const page = (title: string, content: string) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${title}</title>
    <link rel="icon" href="data:,">
    <link rel="alternate" type="text/markdown" href="docs.md">
    <link rel="stylesheet" href="docs/reference.css">
    <script type="module" src="docs/reference.js"></script>
  </head>
  <body>
    <header>
      <nav aria-label="Other forms of this page">
        <a href="v1/openapi.json">OpenAPI</a> <a href="docs.md">Markdown</a> <a href="llms.txt">llms.txt</a>
      </nav>
      <noscript><p>Without JavaScript you can read this page, but not try the API here.</p></noscript>
    </header>
    <main>
${content}    </main>
  </body>
</html>
`;

/** Headings get the names that links in the Markdown use; cells say their column, for narrow windows. */
const asHtml = (markdown: string): string => {
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        const level = String(depth);
        // Several operations have a part of the same name.
        const id = depth < 4 ? ` id="${nameOfHeading(text)}"` : '';
        return `<h${level}${id}>${this.parser.parseInline(tokens)}</h${level}>\n`;
      },
      table({ header, rows }) {
        const heading = header.map(({ tokens }) => `<th>${this.parser.parseInline(tokens)}</th>`);
        const lines = rows.map((row) => {
          const cells = row.map(
            ({ tokens }, column) =>
              `<td data-column="${header[column]?.text ?? ''}">${this.parser.parseInline(tokens)}</td>`,
          );
          return `<tr>${cells.join('')}</tr>\n`;
        });
        return `<table><thead><tr>${heading.join('')}</tr></thead><tbody>${lines.join('')}</tbody></table>\n`;
      },
    },
  });
  return marked.parse(markdown, { async: false });
};

const nameOfHeading = (text: string) => text.toLowerCase().replaceAll('`', '').replaceAll(' ', '-');

/** The API reference as a page for people. */
export const referencePage = (document: OpenApiDocument): string =>
  page(`${document.info.title} API reference`, asHtml(referenceMarkdown(document)));
