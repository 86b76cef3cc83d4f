import { longestIdempotencyKey } from '../../../access/ports.ts';
import type { Operation } from '../operations/operation.ts';
import { propertiesOf } from '../operations/openapi-schemas.ts';

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

/** Names are unique over all operations: the same name means the same thing everywhere. */
const parametersOf = (operation: Operation): readonly Parameter[] => [
  ...Object.entries(operation.parameters ?? {}).map(([name, description]): Parameter => ({
    name,
    in: 'path',
    required: true,
    description,
    schema: { type: 'integer', format: 'int64' },
  })),
  // Reference pages show the description of a parameter, not that of its schema.
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

export const parameterComponents = (operations: readonly Operation[]) =>
  Object.fromEntries(operations.flatMap(parametersOf).map((one) => [one.name, one]));

export const parameterRefs = (operation: Operation) =>
  parametersOf(operation).map(({ name }) => ({ $ref: `#/components/parameters/${name}` }));
