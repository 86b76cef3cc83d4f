import type { Pet } from '../../../catalogue/domain/pet.ts';
import type { EveryField } from '../../../kernel/decision.ts';
import { headersOfSuccess } from '../operations/openapi-headers.ts';
import { parameterRefs } from './openapi-parameters.ts';
import { errorsOf, type Responses } from './openapi-responses.ts';
import { nameOfSchema, schemaRef, type SchemaName } from '../operations/openapi-schemas.ts';
import type { Operation } from '../operations/operation.ts';
import type { ShownOrder } from '../operations/schemas.ts';

export const pathsOf = (operations: readonly Operation[]) => {
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
