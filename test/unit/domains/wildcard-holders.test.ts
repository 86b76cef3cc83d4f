import { expect, test } from '@jest/globals';
import { isContested } from '../../../src/domains/domain/attachment/contested-name.ts';
import { live } from '../../support/domains/known-domains.ts';

const cover = { ...live, id: 'dom_cover', accountId: 'acct_other', host: '*.shop.example.com' };
const exact = { ...live, id: 'dom_exact', accountId: 'acct_1', host: 'a.shop.example.com' };

test('a name needs a proof of its own where another account holds the wildcard that covers it', () => {
  expect(isContested(exact, [cover])).toBe(true);
  expect(isContested(exact, [{ ...cover, accountId: exact.accountId }])).toBe(false);
  expect(isContested(exact, [exact, cover])).toBe(false);
  expect(isContested({ ...exact, id: 'dom_new' }, [exact, cover])).toBe(true);
});
