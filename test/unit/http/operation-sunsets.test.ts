import { expect, test } from '@jest/globals';
import { Cursors } from '../../../src/adapters/http/operations/cursors.ts';
import {
  operationSunsets,
  catalogueOperations,
  type CatalogueRoutes,
} from '../../../src/adapters/http/operations/catalogue-operations.ts';
import { mustNotBeUsed } from '../../support/strict-fake.ts';

test('accounts are notified of the removal of exactly the operations that they call', () => {
  const routes: CatalogueRoutes = {
    catalogue: mustNotBeUsed<CatalogueRoutes['catalogue']>('the catalogue'),
    cursors: new Cursors([new Uint8Array(32)]),
    baseUrl: 'https://api.shop.example/v1',
  };
  const operations = catalogueOperations(routes);
  const announced = operations.flatMap(({ id, deprecation }) =>
    deprecation ? [[id, deprecation.sunset] as const] : [],
  );
  expect(new Map(announced)).toEqual(operationSunsets);
  expect(operationSunsets.get('getPet')).toEqual(new Date('2030-12-05T00:00:00Z'));
});
