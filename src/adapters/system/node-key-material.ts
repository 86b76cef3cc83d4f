import { hash, randomInt } from 'node:crypto';
import { base62 } from '../../access/domain/api-key.ts';
import { KeyMaterial } from '../../access/ports.ts';

export class NodeKeyMaterial extends KeyMaterial {
  override randomBase62(length: number): string {
    return Array.from({ length }, () => base62.charAt(randomInt(base62.length))).join('');
  }

  override sha256(text: string): string {
    return hash('sha256', text, 'hex');
  }
}
