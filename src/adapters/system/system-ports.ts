import { AsyncLocalStorage } from 'node:async_hooks';
import { createHmac, hash, randomBytes, randomInt } from 'node:crypto';
import { v7 as uuid } from 'uuid';
import { Clock, Ids, Acting, type Actor, Deadline } from '../../kernel/ports.ts';
import { base62 } from '../../access/domain/api-key.ts';
import { KeyMaterial } from '../../access/ports.ts';

export class SystemClock extends Clock {
  override now(): Date {
    return new Date();
  }
}

/** Creates UUIDs version 7 (RFC 9562) without dashes. They grow with time, which keeps database indexes compact. */
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

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Encodes bytes as in RFC 4648, section 6. @param bytes a multiple of 5 */
const base32 = (bytes: Uint8Array): string => {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{5}/g) ?? []).map((five) => alphabet.charAt(parseInt(five, 2))).join('');
};

const bytesOf = (text: string): Buffer => {
  const bits = [...text].map((one) => alphabet.indexOf(one).toString(2).padStart(5, '0')).join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => parseInt(byte, 2)));
};

/** Computes a TOTP code (RFC 6238), which is HOTP (RFC 4226, section 5.3) with a time step as counter. @param secret base32 */
export const timeCode = (secret: string, step: number): string => {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', bytesOf(secret)).update(counter).digest();
  const number = mac.readUInt32BE((mac.at(-1) ?? 0) & 0xf) & 0x7fffffff;
  return String(number % 1_000_000).padStart(6, '0');
};

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

/** This is shorter than clients and proxies usually wait. */
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
      // Work that continues after the request, such as a timer, has no deadline.
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
