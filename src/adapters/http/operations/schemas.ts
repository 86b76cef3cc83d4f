import type { JsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { orderStatuses, isComplete, type Order } from '../../../catalogue/domain/order.ts';
import {
  isCategoryId,
  isPetName,
  largestInt64,
  petNameLength,
  petStatuses,
  type Pet,
  type PetDraft,
} from '../../../catalogue/domain/pet.ts';
import type { EveryField } from '../../../kernel/decision.ts';
import { errorTable, type ErrorCode } from '../error-table.ts';

// ECMAScript's "JSON.parse source text access": in Node since 22, not yet in TypeScript's library.
declare global {
  interface JSON {
    rawJSON(text: string): unknown;
  }
}

/** JSON Schema for what valibot's converter cannot express: exact integers, and numbers in query strings. */
export const documented = new WeakMap<object, JsonSchema>();

const withJsonSchema = <Schema extends object>(schema: Schema, json: JsonSchema): Schema => {
  // The converter passes only the first part of a pipe, never the pipe.
  const [first] = 'pipe' in schema ? (schema.pipe as readonly [object]) : [schema];
  documented.set(first, json);
  return schema;
};

/** Most tools read JSON Schema numbers as doubles, so the description states the exact bound. */
const int64 = (minimum: number, description: string): JsonSchema => ({
  type: 'integer',
  format: 'int64',
  minimum,
  description: `${description} At most ${String(largestInt64)}; parse it without rounding.`,
});

const required = (rule: string) => (issue: { readonly received: string }) =>
  issue.received === 'undefined' ? `is required: ${rule}` : `must be ${rule}`;

const categoryRule = `an integer from 1 to ${String(largestInt64)}`;
const categoryId = withJsonSchema(
  v.pipe(
    v.union([v.number(), v.bigint()], required(categoryRule)),
    v.check(
      (value) => typeof value === 'bigint' || Number.isSafeInteger(value),
      `must be ${categoryRule}`,
    ),
    v.transform((value): bigint => BigInt(value)),
    v.check(isCategoryId, `must be ${categoryRule}`),
  ),
  int64(1, 'Id of the category the animal belongs to.'),
);

const nameRule = `text of ${String(petNameLength.min)} to ${String(petNameLength.max)} characters without control characters`;
const petName = withJsonSchema(
  v.pipe(v.string(required(nameRule)), v.trim(), v.check(isPetName, `must be ${nameRule}`)),
  {
    type: 'string',
    minLength: petNameLength.min,
    maxLength: petNameLength.max,
    description: "The animal's name. Trimmed; Unicode, without control characters.",
    examples: ['Rex'],
  },
);

const statusRule = petStatuses.map((status) => `"${status}"`).join(', ');
export const PetStatus = v.picklist(petStatuses, `must be one of ${statusRule}`);

/** Generators treat a field with a default as required, but they do not look into `allOf`. */
const statusOfNewPet = withJsonSchema(v.optional(PetStatus, 'available'), {
  allOf: [{ $ref: '#/components/schemas/PetStatus' }, { default: 'available' }],
});

export const NewPet = v.object(
  { name: petName, categoryId, status: statusOfNewPet } satisfies EveryField<PetDraft>,
  ({ path }) => `is required: ${path?.[0].key === 'name' ? nameRule : categoryRule}`,
);

export const PetBody = v.object({
  id: withJsonSchema(v.bigint(), int64(1, 'Assigned by the service on creation.')),
  name: petName,
  categoryId,
  status: PetStatus,
} satisfies EveryField<Pet>);

export const Pets = v.array(PetBody);

const orderId = withJsonSchema(v.bigint(), int64(1, 'Assigned by the service.'));

export const OrderStatus = v.picklist(orderStatuses);

export type ShownOrder = Order & { readonly complete: boolean };

export const OrderBody = v.object({
  id: orderId,
  petId: withJsonSchema(v.bigint(), int64(1, 'The animal that was sold.')),
  quantity: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(2147483647)),
  shipDate: withJsonSchema(v.string(), { type: 'string', format: 'date-time' }),
  status: OrderStatus,
  complete: withJsonSchema(v.boolean(), {
    type: 'boolean',
    description: 'Whether the order was delivered.',
  }),
} satisfies EveryField<ShownOrder>);

export const Orders = v.array(OrderBody);

export const ErrorCodes = v.picklist(Object.keys(errorTable) as [ErrorCode, ...ErrorCode[]]);

export const ErrorBody = v.object({
  code: ErrorCodes,
  message: withJsonSchema(v.string(), {
    type: 'string',
    description: 'What is wrong and what would be right. For people; may change.',
  }),
  status: withJsonSchema(v.number(), { type: 'integer', description: 'The HTTP status code.' }),
});

const limitRule = 'must be a whole number from 1 to 100';
const limit = withJsonSchema(
  v.optional(
    v.pipe(
      v.string(),
      v.regex(/^[1-9][0-9]{0,2}$/, limitRule),
      v.transform(Number),
      v.minValue(1, limitRule),
      v.maxValue(100, limitRule),
    ),
    '20',
  ),
  {
    type: 'integer',
    minimum: 1,
    maximum: 100,
    default: 20,
    description: 'How many to return at most.',
  },
);
const cursor = withJsonSchema(v.optional(v.string()), {
  type: 'string',
  description: 'Where the page starts: taken from the `Link` header with `rel="next"`.',
});

export const ListPetsQuery = v.object({ limit, cursor, status: v.optional(PetStatus) });
export const ListOrdersQuery = v.object({ limit, cursor });

/** Converts an int64 so that JSON.stringify writes all its digits. */
export const exactInteger = (value: bigint): unknown => {
  // Rounding never makes a larger number safe, and comparing bigints with numbers is slow.
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : JSON.rawJSON(String(value));
};

export const presentPet = ({ id, name, categoryId, status }: Pet) =>
  ({
    id: exactInteger(id),
    name,
    categoryId: exactInteger(categoryId),
    status,
  }) satisfies EveryField<Pet>;

export const presentOrder = (order: Order) =>
  ({
    id: exactInteger(order.id),
    petId: exactInteger(order.petId),
    quantity: order.quantity,
    shipDate: order.shipDate.toISOString(),
    status: order.status,
    complete: isComplete(order),
  }) satisfies EveryField<ShownOrder>;
