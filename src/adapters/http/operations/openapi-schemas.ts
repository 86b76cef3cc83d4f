import { toJsonSchema, toJsonSchemaDefs, type JsonSchema } from '@valibot/to-json-schema';
import type { GenericSchema } from 'valibot';
import {
  documented,
  ErrorBody,
  ErrorCodes,
  NewPet,
  OrderBody,
  OrderStatus,
  Orders,
  PetBody,
  Pets,
  PetStatus,
} from './schemas.ts';

/** The named schemas of the document; whatever uses one refers to it by name. */
const named = {
  PetStatus,
  NewPet,
  Pet: PetBody,
  Pets,
  OrderStatus,
  Order: OrderBody,
  Orders,
  ErrorCode: ErrorCodes,
  Error: ErrorBody,
};

export type SchemaName = keyof typeof named;

export const schemaRef = (name: SchemaName) => ({ $ref: `#/components/schemas/${name}` });

export const nameOfSchema = (schema: GenericSchema): SchemaName => {
  const found = Object.entries(named).find(([, one]) => (one as object) === schema);
  if (!found) throw new Error('A body in the API reference needs a name.');
  return found[0] as SchemaName;
};

const conversion = {
  target: 'draft-2020-12',
  typeMode: 'input',
  ignoreActions: ['check', 'trim', 'transform'],
  overrideSchema: ({ valibotSchema, jsonSchema }) => documented.get(valibotSchema) ?? jsonSchema,
  overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
  errorMode: 'ignore',
} satisfies Parameters<typeof toJsonSchemaDefs>[1];

export const schemaComponents: Readonly<Record<SchemaName, JsonSchema>> = toJsonSchemaDefs(
  named,
  conversion,
);

/** The JSON Schemas of an object's fields, by name. */
export const propertiesOf = (schema: GenericSchema): Readonly<Record<string, JsonSchema>> =>
  (toJsonSchema(schema, { ...conversion, definitions: named }).properties ?? {}) as Readonly<
    Record<string, JsonSchema>
  >;
