import type { Generated } from 'kysely';
import * as v from 'valibot';
import { isActor, type Actor } from '../../kernel/ports.ts';

/** Every integer is an int64 and arrives as a bigint. */
export interface Column<Field, Stored> {
  readonly type: 'integer' | 'text';
  readonly isNullable: boolean;
  /** @throws Error when the row is corrupt or newer */
  readonly read: (stored: Stored) => Field;
  readonly write: (field: Field) => Stored;
}

export const text: Column<string, string> = {
  type: 'text',
  isNullable: false,
  read: (stored) => stored,
  write: (field) => field,
};

export const int64: Column<bigint, bigint> = {
  type: 'integer',
  isNullable: false,
  read: (stored) => stored,
  write: (field) => field,
};

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

/** Words separated by spaces. */
export const words = <Word extends string>(
  known: readonly Word[],
): Column<readonly Word[], string> => ({
  ...text,
  read: (stored) => stored.split(' ').map((one) => oneOf(known, one)),
  write: (field) => field.join(' '),
});

export const actor: Column<Actor, string> = {
  ...text,
  read: (stored) => {
    if (!isActor(stored)) throw new Error(`stored actor "${stored}" is invalid`);
    return stored;
  },
};

export const json = <Value>(schema: v.GenericSchema<unknown, Value>): Column<Value, string> => ({
  ...text,
  read: (stored) => parseStored(schema, stored),
  write: (field) => JSON.stringify(field),
});

export const maybe = <Field, Stored>(
  column: Column<Field, Stored>,
): Column<Field | undefined, Stored | null> => ({
  type: column.type,
  isNullable: true,
  read: (stored) => (stored === null ? undefined : column.read(stored)),
  write: (field) => (field === undefined ? null : column.write(field)),
});

/** @throws Error when the row is corrupt or newer */
export const oneOf = <Word extends string>(known: readonly Word[], stored: string): Word => {
  const found = known.find((one) => one === stored);
  if (found === undefined)
    throw new Error(`stored word "${stored}" is not one of ${known.join(', ')}`);
  return found;
};

/** @throws Error when the row is corrupt */
export const present = <Value>(name: string, stored: Value | null | undefined): Value => {
  if (stored === null || stored === undefined) throw new Error(`stored ${name} is missing`);
  return stored;
};

/** `v.object({ … } satisfies Entries<…>)` does not compile while a field is missing. */
export type Entries<Value> = {
  readonly [Field in keyof Value]-?: v.GenericSchema<unknown, Value[Field]>;
};

/** A schema for optional fields, because JSON leaves out undefined values. */
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

interface AnyColumn extends Pick<Column<never, never>, 'type' | 'isNullable'> {
  readonly read: (stored: never) => unknown;
  readonly write: (field: never) => unknown;
}
type AnyColumns = Readonly<Record<string, AnyColumn>>;

/** `table({ … } satisfies ColumnsOf<Pet, 'accountId'>)` fails to compile if a field is missing. `Also` adds columns. */
export type ColumnsOf<Fields, Also extends string = never> = Readonly<Record<Also, AnyColumn>> & {
  readonly [Field in keyof Fields]-?: AnyColumn & {
    readonly read: (stored: never) => Fields[Field];
    readonly write: (field: Fields[Field]) => unknown;
  };
};

type SnakeCase<Name> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : '';

/** `accountId` is stored in `account_id`. Table names follow the same rule. */
export const storedName = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

type FieldsOf<Columns extends AnyColumns> = {
  readonly [Field in keyof Columns]: ReturnType<Columns[Field]['read']>;
};

type RowOf<Columns extends AnyColumns> = {
  readonly [Field in keyof Columns as SnakeCase<Field>]: ReturnType<Columns[Field]['write']>;
};

export interface Table<Columns extends AnyColumns> {
  readonly columns: Columns;
  readonly names: readonly SnakeCase<keyof Columns>[];
  readonly read: (row: RowOf<Columns>) => FieldsOf<Columns>;
  /** Writes only the given fields. */
  readonly write: <Given extends Partial<FieldsOf<Columns>>>(
    given: Given,
  ) => RowOf<Pick<Columns, keyof Given & keyof Columns>>;
  /** Values for the parameters of a compiled statement. */
  readonly slots: (the: (name: SnakeCase<keyof Columns>) => unknown) => RowOf<Columns>;
  readonly only: <Kept extends keyof Columns & string>(
    ...kept: readonly Kept[]
  ) => Table<Pick<Columns, Kept>>;
  readonly without: <Left extends keyof Columns & string>(
    ...left: readonly Left[]
  ) => Table<Omit<Columns, Left>>;
}

type Convert = (value: unknown) => unknown;
type Values = Record<string, unknown>;

export const table = <Columns extends AnyColumns>(columns: Columns): Table<Columns> => {
  const all = Object.entries(columns).map(([field, column]) => {
    const read = column.read as Convert;
    const write = column.write as Convert;
    return { field, name: storedName(field), read, write };
  });
  const part = (isIn: (field: string) => boolean) =>
    table(Object.fromEntries(Object.entries(columns).filter(([field]) => isIn(field)))) as never;
  const names = all.map(({ name }) => name as SnakeCase<keyof Columns>);
  return {
    columns,
    names,
    read: (row) => {
      const fields: Values = {};
      for (const { field, name, read } of all) fields[field] = read((row as Values)[name]);
      return fields as never;
    },
    write: (given) => {
      const row: Values = {};
      for (const { field, name, write } of all) {
        if (field in given) row[name] = write((given as Values)[field]);
      }
      return row as never;
    },
    slots: (the) => Object.fromEntries(names.map((name) => [name, the(name)])) as never,
    only: (...kept) => part((field) => kept.some((one) => one === field)),
    without: (...left) => part((field) => !left.some((one) => one === field)),
  };
};

type StoredRow<Columns extends AnyColumns> = {
  [Field in keyof Columns as SnakeCase<Field>]: Columns[Field] extends {
    readonly isAssigned: true;
  }
    ? Generated<bigint>
    : ReturnType<Columns[Field]['write']>;
};

export type StoredTables<Tables> = {
  [Name in keyof Tables as SnakeCase<Name>]: Tables[Name] extends Table<infer Columns>
    ? StoredRow<Columns>
    : never;
};
