import { v7 as uuid } from 'uuid';
import { Ids } from '../../kernel/ids.ts';

/** UUID version 7 (RFC 9562) without dashes: grows with time, which keeps database indexes compact. */
export class UuidIds extends Ids {
  override next(prefix: string): string {
    return `${prefix}_${uuid().replaceAll('-', '')}`;
  }
}
