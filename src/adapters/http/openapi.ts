import { toJsonSchema, type JsonSchema } from '@valibot/to-json-schema';
import type { GenericSchema } from 'valibot';
import { errorTable, type ErrorCode } from './error-table.ts';
import type { Operation } from './operation.ts';
import { documented, ErrorBody, NewPet, OrderBody, PetBody, PetStatus } from './schemas.ts';

export interface Servers {
  readonly publicUrl: string;
  readonly stagingUrl: string | undefined;
}

/** What every operation can answer besides its own refusals. */
const everywhere: readonly ErrorCode[] = [
  'malformed_request',
  'missing_api_key',
  'invalid_api_key',
  'insufficient_scope',
  'not_acceptable',
  'request_timeout',
  'expectation_failed',
  'rate_limit_exceeded',
  'daily_quota_exceeded',
  'key_banned',
  'headers_too_large',
  'internal_error',
  'service_unavailable',
];

const withBody: readonly ErrorCode[] = [
  'malformed_json',
  'validation_failed',
  'payload_too_large',
  'unsupported_media_type',
];

const withIdempotency: readonly ErrorCode[] = [
  'invalid_parameter',
  'idempotency_in_progress',
  'idempotency_key_reused',
];

/** The OpenAPI 3.1 document, from the operations and schemas that also run. */
export const openApiDocument = (operations: readonly Operation[], servers: Servers) => ({
  openapi: '3.1.0',
  info: {
    title: 'Animal Store',
    version: '1.0.0',
    description:
      'A catalogue of animals for a store. All bodies are JSON in UTF-8. Ids are int64: parse them without ' +
      'rounding. Every refusal is `{code, message, status}`; act on `code`, show `message`.',
  },
  servers: [
    { url: servers.publicUrl, description: 'Production' },
    ...(servers.stagingUrl ? [{ url: servers.stagingUrl, description: 'Staging' }] : []),
  ],
  security: [{ apiKey: [] }],
  tags: [
    { name: 'animals', description: 'The animals of the store.' },
    { name: 'orders', description: 'What was sold.' },
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
    schemas: {
      PetStatus: jsonSchema(PetStatus),
      NewPet: jsonSchema(NewPet),
      Pet: jsonSchema(PetBody),
      Pets: { type: 'array', items: { $ref: '#/components/schemas/Pet' } },
      Order: jsonSchema(OrderBody),
      Orders: { type: 'array', items: { $ref: '#/components/schemas/Order' } },
      Error: jsonSchema(ErrorBody),
    },
  },
});

const pathsOf = (operations: readonly Operation[]) => {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const operation of operations) {
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method.toLowerCase()]: describe(operation),
    };
  }
  return paths;
};

const describe = (operation: Operation) => ({
  operationId: operation.id,
  tags: operation.tags,
  summary: operation.summary,
  description: `${operation.description}\n\nScope: \`${operation.scope}\`.`,
  security: [{ apiKey: [] }],
  ...(operation.deprecation && {
    deprecated: true,
    'x-deprecated-sunset': operation.deprecation.sunset.toISOString().slice(0, 10),
  }),
  ...operation.extensions,
  parameters: parametersOf(operation),
  ...(operation.body && {
    requestBody: {
      required: true,
      content: json({ $ref: '#/components/schemas/NewPet' }),
    },
  }),
  responses: {
    [operation.success.status]: {
      description: operation.success.description,
      headers: headers({ ...operation.success.headers, ...headersOf(operation) }),
      content: json({ $ref: `#/components/schemas/${operation.success.schema}` }),
    },
    ...refusals(operation),
  },
});

const parametersOf = (operation: Operation) => [
  ...Object.entries(operation.parameters ?? {}).map(([name, description]) => ({
    name,
    in: 'path',
    required: true,
    description,
    schema: { type: 'integer', format: 'int64' },
  })),
  // Swagger UI shows the description of a parameter, not that of its schema.
  ...Object.entries(queryProperties(operation)).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: false,
    ...(description !== undefined && { description }),
    schema,
  })),
  ...(operation.idempotent
    ? [
        {
          name: 'Idempotency-Key',
          in: 'header',
          required: false,
          description:
            'Makes the request safe to repeat. Kept for 24 hours; at most 255 characters.',
          schema: { type: 'string', minLength: 1, maxLength: 255 },
        },
      ]
    : []),
];

const queryProperties = ({ query }: Operation): Record<string, JsonSchema> =>
  query ? ((jsonSchema(query).properties ?? {}) as Record<string, JsonSchema>) : {};

/** The refusals of an operation by status, each with its codes. */
const refusals = (operation: Operation) => {
  const codes = new Set([
    ...operation.errors,
    ...(operation.body ? withBody : []),
    ...(operation.idempotent ? withIdempotency : []),
    ...everywhere,
  ]);
  const byStatus = Map.groupBy(codes, (code) => errorTable[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, of]) => [
      String(status),
      {
        description: of.map((code) => `\`${code}\`: ${errorTable[code].meaning}`).join('\n\n'),
        headers: headers({ ...headersOf(operation), ...extraHeaders[status] }),
        content: json({
          allOf: [
            { $ref: '#/components/schemas/Error' },
            { properties: { code: { enum: of }, status: { const: status } } },
          ],
        }),
      },
    ]),
  );
};

const extraHeaders: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  401: { 'WWW-Authenticate': '`Bearer`.' },
  409: { 'Retry-After': 'Whole seconds to wait before trying again.' },
  429: { 'Retry-After': 'Whole seconds to wait before trying again.' },
  503: { 'Retry-After': 'Whole seconds to wait before trying again.' },
};

const limitHeaders = {
  'X-RateLimit-Limit': 'The limit of the window that this answer speaks for.',
  'X-RateLimit-Remaining': 'Requests left in that window.',
  'X-RateLimit-Reset': 'When that window ends, in Unix seconds.',
  'RateLimit-Policy': 'All limits in force (draft-ietf-httpapi-ratelimit-headers-10).',
  RateLimit: 'The window that this answer speaks for: requests left `r`, seconds to its end `t`.',
};

const headersOf = ({ deprecation }: Operation): Readonly<Record<string, string>> => ({
  'X-Request-Id': 'Names this request in our logs.',
  ...limitHeaders,
  ...(deprecation && {
    Deprecation: 'Since when the operation is deprecated (RFC 9745).',
    Sunset: 'When the operation is removed (RFC 8594).',
    Link: 'What to use instead, `rel="successor-version"`.',
  }),
});

const headers = (descriptions: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(descriptions).map(([name, description]) => [
      name,
      { description, schema: { type: 'string' } },
    ]),
  );

const json = (schema: unknown) => ({ 'application/json': { schema } });

const jsonSchema = (schema: GenericSchema): JsonSchema => {
  const { $schema: _, ...rest } = toJsonSchema(schema, {
    target: 'draft-2020-12',
    typeMode: 'input',
    ignoreActions: ['check', 'trim', 'transform'],
    overrideSchema: ({ valibotSchema, jsonSchema: made }) => {
      const own = documented.get(valibotSchema);
      return own ? { ...('default' in made && { default: made.default }), ...own } : made;
    },
    errorMode: 'ignore',
  });
  return rest;
};
