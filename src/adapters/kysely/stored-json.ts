import * as v from 'valibot';

/** The schemas of the fields of a type: `v.object({ … } satisfies Entries<…>)` does not compile while it lacks one. */
export type Entries<Value> = {
  readonly [Field in keyof Value]-?: v.GenericSchema<unknown, Value[Field]>;
};

/** JSON leaves out what is undefined. */
export const perhaps = <Output>(schema: v.GenericSchema<unknown, Output>) =>
  v.optional(schema, () => undefined);

export const date = v.pipe(
  v.string(),
  v.transform((text) => new Date(text)),
  v.date(),
);

/** @throws Error when the column is corrupt */
export const parseStored = <Value>(
  schema: v.GenericSchema<unknown, Value>,
  stored: string,
): Value => v.parse(schema, JSON.parse(stored));
