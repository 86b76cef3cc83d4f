class Killed extends Error {}

/** Counts the steps of a process, which is killed before or after the chosen step. */
export class Life {
  #step = 0;
  #isOver = false;
  readonly #last: number;

  constructor(last: number) {
    this.#last = last;
  }

  get steps(): number {
    return this.#step;
  }

  /** A port of the process. Each call is two steps, one before it takes effect and one after. */
  port<Port extends object>(port: Port): Port {
    return new Proxy(port, {
      get: (target, name) => {
        const method = Reflect.get(target, name) as
          ((...all: readonly unknown[]) => unknown) | undefined;
        if (!method) return undefined;
        return async (...all: readonly unknown[]) => {
          this.#take();
          const result = await method.apply(target, [...all]);
          this.#take();
          return result;
        };
      },
    });
  }

  #take(): void {
    this.#step += 1;
    this.#isOver ||= this.#step > this.#last;
    if (this.#isOver) throw new Killed();
  }
}
