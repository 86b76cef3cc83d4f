/** Open connections, each of which knows its place: to add and to remove one takes a few steps and no memory. */
export class OpenConnections<One extends { at: number }> {
  readonly #all: One[] = [];

  get count(): number {
    return this.#all.length;
  }

  [Symbol.iterator](): IterableIterator<One> {
    return this.#all.values();
  }

  add(one: One): void {
    one.at = this.#all.push(one) - 1;
  }

  /** Its place is taken by the last. */
  remove(one: One): void {
    const last = this.#all.at(-1);
    if (!last || this.#all[one.at] !== one) return;
    this.#all[one.at] = last;
    last.at = one.at;
    this.#all.pop();
  }
}
