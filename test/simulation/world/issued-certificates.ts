import type { Chance } from './chance.ts';
import { backdatedMs, immediateWindow, usualWindow } from './authority-limits.ts';
import { IssuingKey } from './der.ts';

export interface IssuedCertificate {
  readonly names: readonly string[];
  readonly account: string;
  /** Hexadecimal, as in DER. */
  readonly serial: string;
  /** True time in milliseconds. */
  readonly notBefore: number;
  readonly notAfter: number;
}

interface Kept extends IssuedCertificate {
  readonly leaf: Buffer;
}

export interface WantedCertificate {
  readonly names: readonly string[];
  readonly account: string;
  readonly publicKey: Buffer;
  readonly lifetimeMs: number;
}

/** All certificates of one authority and their renewal windows (RFC 9773). */
export class IssuedCertificates {
  readonly #key: IssuingKey;
  readonly #chance: Chance;
  readonly all: IssuedCertificate[] = [];
  readonly #bySerial = new Map<string, Kept>();
  /** Certificates issued until this time have a moved window. */
  #movedAt = -Infinity;

  constructor(name: string, chance: Chance) {
    this.#key = new IssuingKey(name);
    this.#chance = chance;
  }

  issue({ publicKey, lifetimeMs, ...of }: WantedCertificate, now: number): IssuedCertificate {
    const notBefore = Math.floor((now - backdatedMs) / 1000) * 1000;
    const notAfter = notBefore + lifetimeMs - 1000;
    const serial = Buffer.from([4, ...Array.from({ length: 17 }, () => this.#chance.int(256))]);
    const { names } = of;
    const leaf = this.#key.leaf({ names, serial, publicKey, notBefore, notAfter });
    const kept = { ...of, serial: serial.toString('hex'), notBefore, notAfter, leaf };
    this.#bySerial.set(kept.serial, kept);
    this.all.push(kept);
    return kept;
  }

  /** @returns PEM; undefined if the account has no such certificate */
  chain(serial: string, account: string): string | undefined {
    const kept = this.#bySerial.get(serial);
    return kept?.account === account ? this.#key.chain(kept.leaf) : undefined;
  }

  /** @param id as in RFC 9773, section 4.1 */
  find(id: string): IssuedCertificate | undefined {
    const [keyId = '', serial = ''] = id.split('.');
    if (keyId !== this.#key.keyId.toString('base64url')) return undefined;
    return this.#bySerial.get(Buffer.from(serial, 'base64url').toString('hex'));
  }

  window({ notBefore, notAfter }: IssuedCertificate, now: number) {
    const isMoved = notBefore + backdatedMs <= this.#movedAt;
    return isMoved ? immediateWindow(now) : usualWindow(notBefore, notAfter);
  }

  /** Everything issued until now is due for renewal at once. */
  moveWindows(now: number): void {
    this.#movedAt = now;
  }
}
