import {
  PrimitiveValueListNode,
  SqliteQueryCompiler,
  type Compilable,
  type CompiledQuery,
  type Kysely,
  type BinaryOperationNode,
  type OperationNode,
} from 'kysely';
import type { Schema } from '../schema.ts';

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

const unanswered = new WeakSet<object>();

/**
 * A statement whose answer is not needed. In a MySQL transaction it is sent together with the next statement, at the
 * latest with COMMIT, which saves a round trip; if it fails, that one fails.
 */
export const withNext = <Row>(statement: Compilable<Row>): Compilable<Row> => ({
  compile: () => {
    const query = statement.compile();
    unanswered.add(query.queryId);
    return query;
  },
});

/** Runs such a statement. */
export const runWithNext = async (db: Kysely<Schema>, statement: Compilable): Promise<void> => {
  await db.executeQuery(withNext(statement).compile());
};

export const goesWithNext = ({ queryId }: CompiledQuery): boolean => unanswered.has(queryId);

/** SQLite takes at most 32 766 parameters, so long lists do not double. */
const mostDoubled = 1024;

/** Repeats the last value until the list has one of few lengths, so that statements have few texts. Not for an empty list. */
export const padded = <Value>(values: readonly Value[]): readonly Value[] => {
  const { length } = values;
  const last = values.slice(-1);
  const wanted =
    length > mostDoubled
      ? Math.ceil(length / mostDoubled) * mostDoubled
      : 2 ** Math.ceil(Math.log2(length));
  return [...values, ...Array.from({ length: wanted - length }, () => last).flat()];
};

/** What is compared with a list (`in`, `not in`) is compared with the padded one, which means the same. */
export class PaddedListsCompiler extends SqliteQueryCompiler {
  protected override visitBinaryOperation(node: BinaryOperationNode): void {
    const { rightOperand: list } = node;
    const isPadded = isValues(list) && list.values.length > 0;
    super.visitBinaryOperation(
      isPadded
        ? { ...node, rightOperand: PrimitiveValueListNode.create(padded(list.values)) }
        : node,
    );
  }
}

const isValues = (node: OperationNode): node is PrimitiveValueListNode =>
  PrimitiveValueListNode.is(node);
