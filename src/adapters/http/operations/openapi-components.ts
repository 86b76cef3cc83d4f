import { toJsonSchema, toJsonSchemaDefs, type JsonSchema } from '@valibot/to-json-schema';
import type { GenericSchema } from 'valibot';
import {
  documented,
  ErrorBody,
  ErrorCodes,
  NewPet,
  OrderBody,
  Orders,
  OrderStatus,
  PetBody,
  Pets,
  PetStatus,
} from './schemas.ts';

interface Header {
  readonly description: string;
  readonly required: boolean;
  readonly schema: { readonly type: 'string' | 'integer' };
}

const header =
  (type: Header['schema']['type'], required: boolean) =>
  (description: string): Header => ({ description, required, schema: { type } });

const [text, integer, sometimes] = [
  header('string', true),
  header('integer', true),
  header('string', false),
];

/** All headers in the reference. `Link` has two uses, so it has two names here. */
export const headerComponents = {
  'X-Request-Id': text('Identifies this request in our logs.'),
  'X-RateLimit-Limit': integer('The limit in force: requests per minute or per day.'),
  'X-RateLimit-Remaining': integer('Requests remaining in the current window.'),
  'X-RateLimit-Reset': integer('When the window ends, in Unix seconds.'),
  'RateLimit-Policy': text('All limits in force (draft-ietf-httpapi-ratelimit-headers-10).'),
  RateLimit: text(
    'The current window: `r` requests remaining, `t` seconds until it ends (same draft).',
  ),
  Location: text('The address of the animal.'),
  'Idempotent-Replayed': sometimes(
    '`true` when this repeats the stored answer to an earlier request.',
  ),
  NextPage: sometimes('The next page, `rel="next"` (RFC 8288). Absent on the last page.'),
  Deprecation: sometimes(
    'Only on deprecated operations: since when, `@` and Unix seconds (RFC 9745).',
  ),
  Sunset: sometimes('Only on deprecated operations: when they are removed (RFC 8594).'),
  Successor: sometimes(
    'Only on deprecated operations: what to use instead, `rel="successor-version"`.',
  ),
  'Retry-After': integer('Seconds to wait before you try again.'),
  'WWW-Authenticate': text('`Bearer`.'),
};

export type HeaderName = keyof typeof headerComponents;

const everywhere: readonly HeaderName[] = [
  'X-Request-Id',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit-Policy',
  'RateLimit',
];
const ofDeprecated: readonly HeaderName[] = ['Deprecation', 'Sunset', 'Successor'];

const byStatus: Readonly<Record<number, readonly HeaderName[]>> = {
  401: ['WWW-Authenticate'],
  409: ['Retry-After'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

/** The headers of an error. They are the same for all operations, because any operation may become deprecated. */
export const headersOfError = (status: number) =>
  refs([...everywhere, ...ofDeprecated, ...(byStatus[status] ?? [])]);

export const headersOfSuccess = (own: readonly HeaderName[], isDeprecated: boolean) =>
  refs([...own, ...everywhere, ...(isDeprecated ? ofDeprecated : [])]);

const refs = (names: readonly HeaderName[]) =>
  Object.fromEntries(names.map((name) => [sentAs(name), { $ref: `#/components/headers/${name}` }]));

const sentAs = (name: HeaderName) => (name === 'NextPage' || name === 'Successor' ? 'Link' : name);

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

export const propertiesOf = (schema: GenericSchema): Readonly<Record<string, JsonSchema>> =>
  (toJsonSchema(schema, { ...conversion, definitions: named }).properties ?? {}) as Readonly<
    Record<string, JsonSchema>
  >;
