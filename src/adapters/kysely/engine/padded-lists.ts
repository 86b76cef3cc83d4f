import {
  PrimitiveValueListNode,
  SqliteQueryCompiler,
  type BinaryOperationNode,
  type OperationNode,
} from 'kysely';

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
