import {
  headerComponents,
  headersOfSuccess,
  nameOfSchema,
  propertiesOf,
  schemaComponents,
  schemaRef,
  type SchemaName,
} from '../operations/openapi-components.ts';
import {
  errorsOf,
  exampleComponents,
  responseComponents,
  type Responses,
} from './openapi-responses.ts';
import type { Operation } from '../operations/operation.ts';
import type { Pet } from '../../../catalogue/domain/pet.ts';
import type { EveryField } from '../../../kernel/decision.ts';
import type { ShownOrder } from '../operations/schemas.ts';
import { longestIdempotencyKey } from '../../../access/ports.ts';

export interface Servers {
  readonly publicUrl: string;
  readonly stagingUrl: string | undefined;
}

/** Builds the OpenAPI 3.1 document from the operations and schemas that run. */
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

const pathsOf = (operations: readonly Operation[]) => {
  const paths: Record<string, Record<string, ReturnType<typeof describe>>> = {};
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
  parameters: parameterRefs(operation),
  ...(operation.body && {
    requestBody: { required: true, content: json(nameOfSchema(operation.body)) },
  }),
  responses: responsesOf(operation),
});

const responsesOf = (operation: Operation): Responses => ({
  ...errorsOf(operation),
  [operation.success.status]: {
    description: operation.success.description,
    headers: headersOfSuccess(operation.success.headers ?? [], operation.deprecation !== undefined),
    content: json(operation.success.schema),
  },
});

const pet = { id: 1, name: 'Rex', categoryId: 7, status: 'available' } satisfies EveryField<Pet>;
const order = {
  id: 1,
  petId: 1,
  quantity: 1,
  shipDate: '2026-11-21T08:45:54.674Z',
  status: 'placed',
  complete: false,
} satisfies EveryField<ShownOrder>;

const examples: Readonly<Partial<Record<SchemaName, unknown>>> = {
  NewPet: { name: 'Rex', categoryId: 7 },
  Pet: pet,
  Pets: [pet],
  Orders: [order],
};

const json = (name: SchemaName) => ({
  'application/json': {
    schema: schemaRef(name),
    ...(name in examples && { example: examples[name] }),
  },
});

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly description?: string;
  readonly schema: object;
}

const idempotencyKey: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Makes the request safe to repeat. Use a new key for each new animal. Kept for 24 hours.',
  schema: { type: 'string', minLength: 1, maxLength: longestIdempotencyKey },
};

/** Parameter names are unique over all operations, because the same name means the same thing everywhere. */
const parametersOf = (operation: Operation): readonly Parameter[] => [
  ...Object.entries(operation.parameters ?? {}).map(([name, description]): Parameter => ({
    name,
    in: 'path',
    required: true,
    description,
    schema: { type: 'integer', format: 'int64' },
  })),
  // Reference pages show a parameter's description, but not its schema's.
  ...Object.entries(operation.query ? propertiesOf(operation.query) : {}).map(
    ([name, { description, ...schema }]): Parameter => ({
      name,
      in: 'query',
      required: false,
      ...(description !== undefined && { description }),
      schema,
    }),
  ),
  ...(operation.idempotent ? [idempotencyKey] : []),
];

const parameterComponents = (operations: readonly Operation[]) =>
  Object.fromEntries(operations.flatMap(parametersOf).map((one) => [one.name, one]));

const parameterRefs = (operation: Operation) =>
  parametersOf(operation).map(({ name }) => ({ $ref: `#/components/parameters/${name}` }));
