import type { OperationNode, TableNode } from 'kysely';

const known = new WeakMap<OperationNode, readonly string[]>();

/** The tables that a statement names, in sub-queries too. Tables in raw SQL (`sql`) are not found. */
export const tablesOf = (statement: OperationNode): readonly string[] => {
  const before = known.get(statement);
  if (before) return before;
  const found = new Set<string>();
  collect(statement, found);
  const tables = [...found];
  known.set(statement, tables);
  return tables;
};

const collect = (part: unknown, found: Set<string>): void => {
  if (typeof part !== 'object' || part === null) return;
  if (isTable(part)) {
    found.add(part.table.identifier.name);
    return;
  }
  // There can be thousands of values, and none is a table.
  if ('kind' in part && part.kind === 'PrimitiveValueListNode') return;
  for (const inner of Object.values(part)) collect(inner, found);
};

const isTable = (part: object): part is TableNode => 'kind' in part && part.kind === 'TableNode';
