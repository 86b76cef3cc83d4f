import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { RequestError } from './error-table.ts';

const positionBytes = 8;
const tagBytes = 16;

/** What a cursor belongs to: it opens the next page of this list, of this account, under this filter only. */
export interface CursorScope {
  readonly list: 'pets' | 'orders';
  readonly accountId: string;
  readonly filter: string;
}

/** Page positions as opaque, URL-safe text: the last id seen (int64) and a keyed tag over it and its scope. */
export class Cursors {
  readonly #key: Buffer;

  /** @param secret the service's secret key; cursors outlive a restart and work in every process */
  constructor(secret: Uint8Array) {
    this.#key = Buffer.from(hkdfSync('sha256', secret, '', 'animal-store cursor', 32));
  }

  encode(scope: CursorScope, after: bigint): string {
    const position = Buffer.alloc(positionBytes);
    position.writeBigInt64BE(after);
    return Buffer.concat([position, this.#tag(scope, position)]).toString('base64url');
  }

  /** @throws RequestError `invalid_cursor` */
  decode(scope: CursorScope, cursor: string): bigint {
    const bytes = Buffer.from(cursor, 'base64url');
    const position = bytes.subarray(0, positionBytes);
    const tag = bytes.subarray(positionBytes);
    const genuine =
      tag.length === tagBytes &&
      timingSafeEqual(tag, this.#tag(scope, position)) &&
      bytes.toString('base64url') === cursor;
    if (!genuine) {
      throw new RequestError(
        'invalid_cursor',
        'cursor is not one that this list gave out. Follow the Link header with rel="next" as it is, ' +
          'with the same filter, or leave cursor out to start at the first page.',
      );
    }
    return position.readBigInt64BE();
  }

  #tag({ list, accountId, filter }: CursorScope, position: Buffer): Buffer {
    return createHmac('sha256', this.#key)
      .update(JSON.stringify([list, accountId, filter]))
      .update(position)
      .digest()
      .subarray(0, tagBytes);
  }
}
