import { headerComponents } from '../operations/openapi-headers.ts';
import { pathsOf } from './openapi-operations.ts';
import { parameterComponents } from './openapi-parameters.ts';
import { exampleComponents, responseComponents } from './openapi-responses.ts';
import { schemaComponents } from '../operations/openapi-schemas.ts';
import type { Operation } from '../operations/operation.ts';

export interface Servers {
  readonly publicUrl: string;
  readonly stagingUrl: string | undefined;
}

/** The OpenAPI 3.1 document, from the operations and schemas that also run. */
export const openApiDocument = (
  operations: readonly Operation[],
  { publicUrl, stagingUrl }: Servers,
) => ({
  openapi: '3.1.0',
  info: {
    title: 'Animal Store',
    version: '1.0.0',
    summary: "The animals and orders of a store, for the store's own programs.",
    description:
      'The API of one store: list its animals, add animals, list its orders. All bodies are JSON in UTF-8.\n\n' +
      'Ids are int64. Parse and write them without rounding; JavaScript numbers round above 9007199254740991.\n\n' +
      'Every error is `{code, message, status}`. Act on `code`; show or log `message`.',
    contact: { name: 'Support for this API', url: new URL('/docs', publicUrl).href },
    license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
  },
  servers: [
    { url: publicUrl, description: 'Production' },
    ...(stagingUrl ? [{ url: stagingUrl, description: 'Staging' }] : []),
  ],
  security: [{ apiKey: [] }],
  tags: [
    { name: 'animals', description: 'The animals of the store.' },
    { name: 'orders', description: 'The orders of the store.' },
    { name: 'Store', description: 'Everything about a store. Has no operations of its own.' },
    { name: 'Pets', description: 'Everything about pets. Has no operations of its own.' },
  ],
  paths: pathsOf(operations),
  components: {
    securitySchemes: {
      apiKey: {
        type: 'http',
        scheme: 'bearer',
        description: 'An API key: `Authorization: Bearer pets_live_…`',
      },
    },
    schemas: schemaComponents,
    parameters: parameterComponents(operations),
    headers: headerComponents,
    responses: responseComponents(operations),
    examples: exampleComponents(operations),
  },
});

export type OpenApiDocument = ReturnType<typeof openApiDocument>;
