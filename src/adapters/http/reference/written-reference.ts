import type { Operation } from '../operations/operation.ts';
import { operationsIn, referenceMarkdown } from './markdown.ts';
import { openApiDocument, type OpenApiDocument, type Servers } from './openapi.ts';
import { Marked } from 'marked';

export const writtenReference = (operations: readonly Operation[], servers: Servers) => {
  const document = openApiDocument(operations, servers);
  return {
    json: JSON.stringify(document),
    page: () => referencePage(document),
    markdown: () => referenceMarkdown(document),
    llms: () => llmsText(document),
  };
};

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

/** Gives headings the names that the Markdown links to. Cells contain their column's name, for narrow windows. */
const asHtml = (markdown: string): string => {
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        const level = String(depth);
        // Several operations have parts with the same name, so deep headings have no id.
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

const referencePage = (document: OpenApiDocument): string =>
  page(`${document.info.title} API reference`, asHtml(referenceMarkdown(document)));

/** Writes `/llms.txt` (llmstxt.org): what the service is, where the reference is, and common mistakes of programs. */
const llmsText = (document: OpenApiDocument): string => {
  const { info, servers } = document;
  const base = servers[0]?.url ?? '';
  const root = base.replace(/\/v1$/, '');
  const operations = operationsIn(document).map(
    ({ verb, path, operation: { summary, deprecated } }) =>
      `- \`${verb} ${path}\`: ${summary}${deprecated ? ' (deprecated)' : ''}`,
  );
  return `# ${info.title} API

> ${info.summary} Base address: ${base}

${operations.join('\n')}

- Send \`Authorization: Bearer <API key>\` with every request.
- Ids are int64: parse and write them without rounding.
- Lists have pages: follow the \`Link\` header with \`rel="next"\` until there is none.
- On 429 and 503 wait for \`Retry-After\`. Send \`Idempotency-Key\` with \`POST\`, so that you can repeat it.
- Every error is \`{code, message, status}\`: act on \`code\`.

## Reference

- [Reference as Markdown](${root}/docs.md): every operation, field, header and error
- [OpenAPI 3.1](${base}/openapi.json): the same for programs
- [Reference as a page](${root}/docs): the same for people, to try in a browser
`;
};
