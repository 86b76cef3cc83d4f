import { hash, randomBytes, randomInt } from 'node:crypto';
import { v7 as uuid } from 'uuid';
import { Clock, Ids } from '../../kernel/ports.ts';
import { base62 } from '../../access/domain/api-key.ts';
import { KeyMaterial } from '../../access/ports.ts';
import { base32, timeCode } from './time-code.ts';

export class SystemClock extends Clock {
  override now(): Date {
    return new Date();
  }
}

/** UUID version 7 (RFC 9562) without dashes: grows with time, which keeps database indexes compact. */
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
