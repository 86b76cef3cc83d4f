import { Ids } from '../../src/kernel/ids.ts';

/** `acct_1`, `key_2`, … */
export class CountingIds extends Ids {
  #last = 0;

  override next(prefix: string): string {
    this.#last += 1;
    return `${prefix}_${String(this.#last).padStart(6, '0')}`;
  }
}
