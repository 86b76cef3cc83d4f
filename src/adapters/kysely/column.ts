import * as v from 'valibot';

/** How a field is kept in a column. Every integer is an int64 and arrives as a bigint. */
export interface Column<Field, Stored> {
  readonly type: 'integer' | 'text';
  readonly isNullable: boolean;
  /** @throws Error when the row is corrupt, or newer than this version */
  readonly read: (stored: Stored) => Field;
  readonly write: (field: Field) => Stored;
}

export const text: Column<string, string> = {
  ...{ type: 'text', isNullable: false },
  read: (stored) => stored,
  write: (field) => field,
};

export const int64: Column<bigint, bigint> = {
  ...{ type: 'integer', isNullable: false },
  read: (stored) => stored,
  write: (field) => field,
};

/** The database assigns it to a new row. */
export const assigned: typeof int64 & { readonly isAssigned: true } = {
  ...int64,
  isAssigned: true,
};

export const int: Column<number, bigint> = { ...int64, read: Number, write: BigInt };

/** Epoch milliseconds. */
export const time: Column<Date, bigint> = {
  ...int64,
  read: (stored) => new Date(Number(stored)),
  write: (field) => BigInt(field.getTime()),
};

/** 0 or 1. */
export const flag: Column<boolean, bigint> = {
  ...int64,
  read: (stored) => stored === 1n,
  write: (field) => (field ? 1n : 0n),
};

export const word = <Word extends string>(known: readonly Word[]): Column<Word, string> => ({
  ...text,
  read: (stored) => oneOf(known, stored),
  write: (field) => field,
});

/** With spaces in between. */
export const words = <Word extends string>(
  known: readonly Word[],
): Column<readonly Word[], string> => ({
  ...text,
  read: (stored) => stored.split(' ').map((one) => oneOf(known, one)),
  write: (field) => field.join(' '),
});

export const json = <Value>(schema: v.GenericSchema<unknown, Value>): Column<Value, string> => ({
  ...text,
  read: (stored) => parseStored(schema, stored),
  write: (field) => JSON.stringify(field),
});

export const maybe = <Field, Stored>(
  column: Column<Field, Stored>,
): Column<Field | undefined, Stored | null> => ({
  ...{ type: column.type, isNullable: true },
  read: (stored) => (stored === null ? undefined : column.read(stored)),
  write: (field) => (field === undefined ? null : column.write(field)),
});

/** A stored word that the code does not know: the row is corrupt, or newer than this version. */
export const oneOf = <Word extends string>(known: readonly Word[], stored: string): Word => {
  const found = known.find((one) => one === stored);
  if (found === undefined)
    throw new Error(`stored word "${stored}" is not one of ${known.join(', ')}`);
  return found;
};

/** A value that a row in this state must have; without it the row is corrupt. */
export const present = <Value>(name: string, stored: Value | null | undefined): Value => {
  if (stored === null || stored === undefined) throw new Error(`stored ${name} is missing`);
  return stored;
};

/** The schemas of the fields of a type: `v.object({ … } satisfies Entries<…>)` does not compile while it lacks one. */
export type Entries<Value> = {
  readonly [Field in keyof Value]-?: v.GenericSchema<unknown, Value[Field]>;
};

/** JSON leaves out what is undefined. */
export const perhaps = <Output>(schema: v.GenericSchema<unknown, Output>) =>
  v.optional(schema, () => undefined);

export const date = v.pipe(
  v.string(),
  v.transform((stored) => new Date(stored)),
  v.date(),
);

/** @throws Error when the column is corrupt */
export const parseStored = <Value>(
  schema: v.GenericSchema<unknown, Value>,
  stored: string,
): Value => v.parse(schema, JSON.parse(stored));
