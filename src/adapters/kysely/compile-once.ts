import type { Compilable, CompiledQuery, Kysely } from 'kysely';
import type { Schema } from './schema.ts';

export type Values = Readonly<Record<string, unknown>>;

/** The value of a parameter, which is known only when the statement runs. */
type The<Parameters> = <Name extends keyof Parameters & string>(name: Name) => Parameters[Name];

/** Builds a statement and names its parameters. */
export type Build<Parameters, Row> = (db: Kysely<Schema>, the: The<Parameters>) => Compilable<Row>;

class Placeholder {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/**
 * Builds and compiles a statement once, when it is first run; on SQLite that costs more than running it.
 * @param shown what the statement contains in place of a parameter
 * @returns a function that fills in values
 */
export const compileOnce = <Parameters extends Values, Row>(
  db: Kysely<Schema>,
  build: Build<Parameters, Row>,
  shown: (parameter: unknown) => unknown = (parameter) => parameter,
): ((values: Parameters) => CompiledQuery<Row>) => {
  let compiled: CompiledQuery<Row> | undefined;
  return (values) => {
    compiled ??= build(db, (name) => shown(new Placeholder(name)) as never).compile();
    const parameters = compiled.parameters.map((slot) =>
      slot instanceof Placeholder ? values[slot.name] : slot,
    );
    return { ...compiled, parameters };
  };
};
