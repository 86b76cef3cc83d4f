import { afterEach } from '@jest/globals';
import { openStores, type StoreOptions, type Stores } from './stores.ts';

/**
 * Must be called at the top of a test file.
 * @returns a function that opens empty storage, which closes after the test that opened it
 */
export const storesOfTests = () => {
  const opened: Stores[] = [];
  afterEach(async () => {
    for (const stores of opened.splice(0)) await stores.close();
  });
  return async (options?: StoreOptions): Promise<Stores> => {
    const stores = await openStores('sqlite', options);
    opened.push(stores);
    return stores;
  };
};
