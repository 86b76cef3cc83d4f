import type * as v from 'valibot';

/** What is said of a setting, in one place; the type, the check, redaction and docs/operations.md all read it. */
export interface Setting<
  Schema extends v.GenericSchema<string, unknown> = v.GenericSchema<string, unknown>,
  Default extends string | undefined = string | undefined,
> {
  readonly schema: Schema;
  /** Read like a given text. Undefined: the value is undefined if nothing is set. */
  readonly byDefault: Default;
  /** What the documentation shows as the default. */
  readonly shownDefault: string | undefined;
  readonly isSecret: boolean;
  /** Markdown, for the table in docs/operations.md. */
  readonly meaning: string;
}

export type SettingTable = Readonly<Record<string, Setting>>;

type TextSchema = v.GenericSchema<string, unknown>;

export const plain = <Schema extends TextSchema, const Default extends string | undefined>(
  schema: Schema,
  byDefault: Default,
  meaning: string,
): Setting<Schema, Default> => ({
  ...{ schema, byDefault, meaning, isSecret: false },
  shownDefault: byDefault === '' ? undefined : byDefault,
});

/** The default is computed from other settings. */
export const derived = <Schema extends TextSchema>(
  schema: Schema,
  shownDefault: string,
  meaning: string,
): Setting<Schema, undefined> => ({
  ...{ schema, byDefault: undefined, shownDefault, meaning, isSecret: false },
});

/** Never shown, in no message and no log. */
export const secret = <Schema extends TextSchema>(
  schema: Schema,
  meaning: string,
): Setting<Schema, undefined> & { readonly isSecret: true } => ({
  ...{ schema, byDefault: undefined, shownDefault: undefined, meaning, isSecret: true },
});

/** The value that a setting has after it was read. */
export type ValueOf<One> =
  One extends Setting<infer Schema, infer Default>
    ? Unchanging<v.InferOutput<Schema>> | (Default extends string ? never : undefined)
    : never;

type Unchanging<Value> = Value extends readonly (infer Part)[] ? readonly Part[] : Value;

/** `DATA_DIR` → `dataDir` */
export type CamelCase<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${Lowercase<First>}${Capitalize<CamelCase<Rest>>}`
  : Lowercase<Name>;

export const camelCase = (name: string): string =>
  name.toLowerCase().replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
