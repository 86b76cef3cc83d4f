import { createHash } from 'node:crypto';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import './machine.ts';
import { promisify } from 'node:util';
import { chanceOf, type Chance } from './chance.ts';
import { Dead, type Time } from './time.ts';

// This module replaces what modules of src take from Node, before the first of them is loaded.

const require = createRequire(import.meta.url);
const RealDate = Date;

/** Seeded for a simulation. A process runs one simulation at a time. */
export interface Simulated {
  readonly time: Time;
  readonly chance: Chance;
  /** Private keys in PEM for those that src generates. */
  readonly privateKey: (n: number) => string;
  /** The fixed result of `Math.random`; without it, numbers are drawn. */
  readonly random?: number;
}

let current: Simulated | undefined;

const simulated = (): Simulated => {
  if (!current) throw new Error('no simulation has begun');
  return current;
};

/** Uses the time and chance of this simulation from now on. */
export const simulate = (its: Simulated): void => {
  current = its;
  keysMade.clear();
};

const chanceHere = (what: string): Chance =>
  simulated().chance.of(simulated().time.actor?.name ?? 'world', what);

class Timer {
  cancel: () => void;

  constructor(cancel: () => void) {
    this.cancel = cancel;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }

  close(): this {
    this.cancel();
    return this;
  }

  [Symbol.dispose](): void {
    this.cancel();
  }
}

type Call = (...given: unknown[]) => void;

/** At least a millisecond, as in Node. */
const leastMs = 1;

const virtualTimeout = (call: Call, ms = 0, ...given: unknown[]): Timer =>
  new Timer(
    simulated().time.after(Math.max(leastMs, ms), () => {
      call(...given);
    }),
  );

const virtualInterval = (call: Call, ms = 0, ...given: unknown[]): Timer => {
  const { time } = simulated();
  const timer = new Timer(() => undefined);
  const again = (): void => {
    timer.cancel = time.after(Math.max(leastMs, ms), () => {
      again();
      call(...given);
    });
  };
  again();
  return timer;
};

const virtualImmediate = (call: Call, ...given: unknown[]): Timer =>
  new Timer(
    simulated().time.afterTurn(() => {
      call(...given);
    }),
  );

const clear = (timer: unknown): void => {
  if (timer instanceof Timer) timer.cancel();
};

interface Waiting {
  readonly signal?: AbortSignal;
}

const virtualDelay = <T>(ms = leastMs, value?: T, { signal }: Waiting = {}): Promise<T> =>
  new Promise((resolve, reject) => {
    const abort = (): void => {
      clear(timer);
      reject(new DOMException('The operation was aborted', 'AbortError'));
    };
    const timer = virtualTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve(value as T);
    }, ms);
    if (signal?.aborted) abort();
    else signal?.addEventListener('abort', abort, { once: true });
  });

const virtualTurn = <T>(value?: T): Promise<T> =>
  new Promise((resolve) => {
    virtualImmediate(() => {
      resolve(value as T);
    });
  });

class VirtualDate extends RealDate {
  constructor(...given: readonly unknown[]) {
    if (given.length === 0) super(VirtualDate.now());
    else super(...(given as [number]));
  }

  static override now(): number {
    return current ? current.time.shown : RealDate.now();
  }

  static override [Symbol.hasInstance](one: unknown): boolean {
    return RealDate[Symbol.hasInstance](one);
  }
}

const randomBuffer = (size: number): Buffer => {
  const chance = chanceHere('bytes');
  const bytes = Buffer.alloc(size);
  for (let at = 0; at < size; at++) bytes[at] = chance.int(256);
  return bytes;
};

const virtualUuid = (): string => {
  const bytes = randomBuffer(16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return [[0, 8], [8, 12], [12, 16], [16, 20], [20]].map(([a, b]) => hex.slice(a, b)).join('-');
};

/** Hashes only once, because a real password hash would take as long as a day of a domain. */
const virtualScrypt = (
  password: string,
  salt: Uint8Array,
  length: number,
  _options: object,
  done: (error: null, key: Buffer) => void,
): void => {
  const key = createHash('shake256', { outputLength: length })
    .update(salt)
    .update(password)
    .digest();
  virtualImmediate(() => {
    done(null, key);
  });
};

/** Different keys, so that a key used for the wrong name is noticed. */
const keysInPool = 1000;
const keysMade = new Map<string, number>();

/** Supports only the form that src uses, with a promise. */
const virtualKeyPair = (): never => {
  throw new Error('a simulated key pair is made with promisify');
};
Object.defineProperty(virtualKeyPair, promisify.custom, {
  value: (): Promise<{ publicKey: string; privateKey: string }> => {
    const { time, privateKey } = simulated();
    const name = time.actor?.name ?? 'world';
    const made = keysMade.get(name) ?? 0;
    keysMade.set(name, made + 1);
    const number = chanceOf(`${name}/${String(made)}`).int(keysInPool);
    return Promise.resolve({ publicKey: '', privateKey: privateKey(number) });
  },
});

type Method = (...given: unknown[]) => unknown;

/** Outcomes arrive in the order of the calls. */
const inOrder = (target: object, names: readonly string[]): void => {
  const methods = target as Record<string, Method>;
  for (const name of names) {
    const real = methods[name];
    if (typeof real !== 'function') continue;
    Object.defineProperty(methods, name, {
      configurable: true,
      writable: true,
      value: function (this: unknown, ...given: unknown[]): unknown {
        const outcome = Reflect.apply(real, this, given);
        return current && outcome instanceof Promise ? current.time.hand(outcome) : outcome;
      },
    });
  }
};

const subtleMethods = [
  ...['digest', 'encrypt', 'decrypt', 'sign', 'verify', 'generateKey', 'deriveBits', 'deriveKey'],
  ...['importKey', 'exportKey'],
] as const;

/** Replaces Node's globals for all modules of this process. */
export const replaceGlobals = (): void => {
  const timers = {
    setTimeout: virtualTimeout,
    setInterval: virtualInterval,
    setImmediate: virtualImmediate,
    clearTimeout: clear,
    clearInterval: clear,
    clearImmediate: clear,
  };
  Object.assign(globalThis, timers, { Date: VirtualDate });
  Object.assign(require('node:timers') as object, timers);
  Object.assign(require('node:timers/promises') as object, {
    setTimeout: virtualDelay,
    setImmediate: virtualTurn,
  });
  Object.defineProperty(performance, 'now', { value: () => simulated().time.now });
  Object.assign(AbortSignal, {
    timeout: (ms: number) => {
      const end = new AbortController();
      virtualTimeout(() => {
        end.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
      }, ms);
      return end.signal;
    },
  });
  Math.random = () => simulated().random ?? chanceHere('random').next();
  const crypto = require('node:crypto') as Record<string, unknown>;
  Object.assign(crypto, {
    randomBytes: randomBuffer,
    randomUUID: virtualUuid,
    randomInt: (least: number, most?: number) =>
      most === undefined
        ? chanceHere('int').int(least)
        : least + chanceHere('int').int(most - least),
    generateKeyPair: virtualKeyPair,
    scrypt: virtualScrypt,
  });
  inOrder(Object.getPrototypeOf(globalThis.crypto.subtle) as object, subtleMethods);
  inOrder(
    require('node:fs/promises') as object,
    Object.keys(require('node:fs/promises') as object).filter((name) => /^[a-z]/.test(name)),
  );
  Object.defineProperty(globalThis.crypto, 'getRandomValues', {
    value: (into: Uint8Array) => {
      into.set(randomBuffer(into.length));
      return into;
    },
  });
  syncBuiltinESMExports();
  process.on('unhandledRejection', (error) => {
    if (!(error instanceof Dead)) throw error;
  });
};
