import type { OpenApiDocument } from './openapi.ts';
import { operationsIn } from './parts.ts';

/** `/llms.txt` (llmstxt.org): what this is, where the reference is, and what programs get wrong. */
export const llmsText = (document: OpenApiDocument): string => {
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
