interface Aged {
  readonly id: string;
  readonly createdAt: Date;
}

/** By age, then by id, as a database lists. The order of insertion differs when the clock jumps back. */
export const oldestFirst = (a: Aged, b: Aged): number =>
  a.createdAt.getTime() - b.createdAt.getTime() || (a.id < b.id ? -1 : 1);
