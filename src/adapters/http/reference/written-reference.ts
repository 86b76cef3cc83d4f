import type { Operation } from '../operations/operation.ts';
import { llmsText } from './llms-text.ts';
import { referenceMarkdown } from './markdown.ts';
import { openApiDocument, type Servers } from './openapi.ts';
import { referencePage } from './page.ts';

/** The API reference in all its forms. */
export const writtenReference = (operations: readonly Operation[], servers: Servers) => {
  const document = openApiDocument(operations, servers);
  return {
    json: JSON.stringify(document),
    page: () => referencePage(document),
    markdown: () => referenceMarkdown(document),
    llms: () => llmsText(document),
  };
};
