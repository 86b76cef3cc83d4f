import {
  PrimitiveValueListNode,
  SqliteQueryCompiler,
  type Compilable,
  type CompiledQuery,
  type Kysely,
  type BinaryOperationNode,
  type OperationNode,
} from 'kysely';

export type Values = Readonly<Record<string, unknown>>;

type The<Parameters> = <Name extends keyof Parameters & string>(name: Name) => Parameters[Name];

export type Build<Schema, Parameters, Row> = (
  db: Kysely<Schema>,
  the: The<Parameters>,
) => Compilable<Row>;

class Placeholder {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** Compiles a query once, because on SQLite compiling costs more than running. @param shown placeholder values */
export const compileOnce = <Schema, Parameters extends Values, Row>(
  db: Kysely<Schema>,
  build: Build<Schema, Parameters, Row>,
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

/** In a MySQL transaction, sends the statement with the next one or COMMIT, which fails if this statement fails. */
export const withNext = <Row>(statement: Compilable<Row>): Compilable<Row> => ({
  compile: () => {
    const query = statement.compile();
    unanswered.add(query.queryId);
    return query;
  },
});

export const runWithNext = async <Schema>(
  db: Kysely<Schema>,
  statement: Compilable,
): Promise<void> => {
  await db.executeQuery(withNext(statement).compile());
};

export const goesWithNext = ({ queryId }: CompiledQuery): boolean => unanswered.has(queryId);

/** Longer lists are not doubled, because SQLite allows at most 32 766 parameters. */
const mostDoubled = 1024;

/** Rounds the list's length up, so that there are few different statements. The list must not be empty. */
export const padded = <Value>(values: readonly Value[]): readonly Value[] => {
  const { length } = values;
  const last = values.slice(-1);
  const wanted =
    length > mostDoubled
      ? Math.ceil(length / mostDoubled) * mostDoubled
      : 2 ** Math.ceil(Math.log2(length));
  return [...values, ...Array.from({ length: wanted - length }, () => last).flat()];
};

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
