import { AsyncLocalStorage } from 'node:async_hooks';
import { Acting, type Actor } from '../../kernel/acting.ts';

export class AsyncActing extends Acting {
  readonly #current = new AsyncLocalStorage<Actor>();
  readonly #otherwise: Actor;

  /** @param otherwise the actor outside of `run` */
  constructor(otherwise: Actor) {
    super();
    this.#otherwise = otherwise;
  }

  override get actor(): Actor {
    return this.#current.getStore() ?? this.#otherwise;
  }

  override run<T>(actor: Actor, work: () => T): T {
    return this.#current.run(actor, work);
  }
}
