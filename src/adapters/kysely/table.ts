import type { Generated } from 'kysely';
import type { Column } from './column.ts';

interface AnyColumn extends Pick<Column<never, never>, 'type' | 'isNullable'> {
  readonly read: (stored: never) => unknown;
  readonly write: (field: never) => unknown;
}
type AnyColumns = Readonly<Record<string, AnyColumn>>;

/**
 * A column for each field: `table({ … } satisfies ColumnsOf<Pet, 'accountId'>)` does not compile while it lacks one.
 * `Also`: what is stored beside the fields.
 */
export type ColumnsOf<Fields, Also extends string = never> = Readonly<Record<Also, AnyColumn>> & {
  readonly [Field in keyof Fields]-?: AnyColumn & {
    readonly read: (stored: never) => Fields[Field];
    readonly write: (field: Fields[Field]) => unknown;
  };
};

type SnakeCase<Name> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : '';

/** `accountId` is stored in `account_id`; tables are named alike. */
export const storedName = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

type FieldsOf<Columns extends AnyColumns> = {
  readonly [Field in keyof Columns]: ReturnType<Columns[Field]['read']>;
};

type RowOf<Columns extends AnyColumns> = {
  readonly [Field in keyof Columns as SnakeCase<Field>]: ReturnType<Columns[Field]['write']>;
};

/** How the fields of something are kept in the columns of a row. */
export interface Table<Columns extends AnyColumns> {
  readonly columns: Columns;
  /** Of the columns, to select them. */
  readonly names: readonly SnakeCase<keyof Columns>[];
  /** @throws Error when the row is corrupt, or newer than this version */
  readonly read: (row: RowOf<Columns>) => FieldsOf<Columns>;
  /** The columns of the fields that are given. */
  readonly write: <Given extends Partial<FieldsOf<Columns>>>(
    given: Given,
  ) => RowOf<Pick<Columns, keyof Given & keyof Columns>>;
  /** A parameter for each column, for a statement that is compiled once. */
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

/** Tables as the database has them. */
export type StoredTables<Tables> = {
  [Name in keyof Tables as SnakeCase<Name>]: Tables[Name] extends Table<infer Columns>
    ? StoredRow<Columns>
    : never;
};
