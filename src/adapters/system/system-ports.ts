import { hash, randomBytes, randomInt } from 'node:crypto';
import { v7 as uuid } from 'uuid';
import { AsyncLocalStorage } from 'node:async_hooks';
import { Clock, Ids, Acting, type Actor, Deadline } from '../../kernel/ports.ts';
import { base62 } from '../../access/domain/api-key.ts';
import { KeyMaterial } from '../../access/ports.ts';
import { base32, timeCode } from './time-code.ts';

export class SystemClock extends Clock {
  override now(): Date {
    return new Date();
  }
}

/** UUID version 7 (RFC 9562) without dashes. It grows with time, which keeps database indexes compact. */
export class UuidIds extends Ids {
  override next(prefix: string): string {
    return `${prefix}_${uuid().replaceAll('-', '')}`;
  }
}

export class NodeKeyMaterial extends KeyMaterial {
  override randomBase62(length: number): string {
    return Array.from({ length }, () => base62.charAt(randomInt(base62.length))).join('');
  }

  override sha256(text: string): string {
    return hash('sha256', text, 'hex');
  }

  override randomBase32(): string {
    return base32(randomBytes(20));
  }

  override timeCode(secret: string, step: number): string {
    return timeCode(secret, step);
  }
}

export class AsyncActing extends Acting {
  readonly #current = new AsyncLocalStorage<Actor>();
  readonly #otherwise: Actor;

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

/** Shorter than clients and proxies usually wait. */
const usualMs = 5000;

interface Open {
  endsAt: number;
}

export class AsyncDeadline extends Deadline {
  readonly #current = new AsyncLocalStorage<Open | undefined>();
  readonly #ms: number;
  readonly #elapsed: () => number;

  constructor(ms = usualMs, elapsed: () => number = () => performance.now()) {
    super();
    this.#ms = ms;
    this.#elapsed = elapsed;
  }

  override get leftMs(): number {
    const { endsAt } = this.#current.getStore() ?? { endsAt: Infinity };
    return Math.max(0, endsAt - this.#elapsed());
  }

  override async during<T>(work: () => Promise<T>): Promise<T> {
    const open: Open = { endsAt: this.#elapsed() + this.#ms };
    try {
      return await this.#current.run(open, work);
    } finally {
      // Work that continues afterwards, such as a timer, belongs to no request.
      open.endsAt = Infinity;
    }
  }

  override async apart<T>(work: () => Promise<T>): Promise<T> {
    const open = this.#current.getStore();
    const since = this.#elapsed();
    try {
      return await this.#current.run(undefined, work);
    } finally {
      if (open) open.endsAt += this.#elapsed() - since;
    }
  }
}
