import { expect, test } from '@jest/globals';
import { mayDo, type Operation, operations, type Role } from '../../../src/access/domain/role.ts';

const all = Object.keys(operations) as Operation[];
const allowed = (role: Role) => all.filter((one) => mayDo(role, one));

test('an owner may do everything', () => {
  expect(allowed('owner')).toEqual(all);
});

test('an editor may work on projects, domains, deploys, animals and orders, and on their own settings', () => {
  const subjects = new Set(allowed('editor').map((one) => one.split('.')[0]));
  expect(subjects).toEqual(new Set(['project', 'deploy', 'domain', 'animal', 'order', 'me']));
});

test('a viewer can only change their own settings', () => {
  expect(allowed('viewer').filter((one) => !one.startsWith('me.'))).toEqual([]);
});
