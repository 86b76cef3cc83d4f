import { expect, test } from '@jest/globals';
import { addDomain } from '../../../src/domains/domain/attachment/custom-domain.ts';
import { contestedBy } from '../../../src/domains/domain/attachment/contested-name.ts';
import { admitted, draft, moment, start, verified } from '../../support/domains/known-domains.ts';

const names = { host: 'xn--bcher-kva.test', unicode: 'bücher.test' };
const both = 'bücher.test (xn--bcher-kva.test)';

test('a name that is already in the list is shown with U-labels and A-labels', () => {
  const hostname = { ...draft.hostname, ...names };
  const attachedTo = { name: 'Books', isThisOne: true };
  const add = () => addDomain({ ...draft, hostname }, { ...admitted, attachedTo }, moment(start));
  expect(add).toThrow(both);
});

test('a name that somebody else holds is shown with both too', () => {
  const holder = { ...verified, host: names.host, unicodeHost: names.unicode };
  expect(() => contestedBy(holder, { ...holder, id: 'dom_2' }, start)).toThrow(both);
});
