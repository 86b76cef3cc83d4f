import { expect, test } from '@jest/globals';
import { inTurns, type DueMail } from '../../../src/notifications/domain/mail.ts';

const mail = (message: string, draft: Partial<DueMail> = {}): DueMail => ({
  ...{ message, accountId: 'acct_1', isPersonal: false },
  ...draft,
});
const ofOther = { accountId: 'acct_2' };

test('messages are sent in the order in which they are due, each once', () => {
  expect(inTurns([mail('a'), mail('a'), mail('b'), mail('c')], [], 2)).toEqual(['a', 'b']);
  expect(inTurns([], [], 2)).toEqual([]);
});

test('those of personal kinds go first', () => {
  const due = [mail('a'), mail('b'), mail('link', { isPersonal: true })];
  expect(inTurns(due, ['acct_1'], 2)).toEqual(['link', 'a']);
});

test('an account with many mails lets the others take turns', () => {
  const due = [mail('a'), mail('b'), mail('c'), mail('x', ofOther), mail('y', ofOther)];
  expect(inTurns(due, [], 5)).toEqual(['a', 'x', 'b', 'y', 'c']);
});

test('the account whose last turn is longest ago goes first, also where one message is taken at a time', () => {
  const due = [mail('a'), mail('b'), mail('x', ofOther), mail('p', { accountId: 'acct_3' })];
  expect(inTurns(due, ['acct_1', 'acct_2'], 1)).toEqual(['p']);
  expect(inTurns(due, ['acct_3', 'acct_2', 'acct_1'], 1)).toEqual(['p']);
  expect(inTurns(due, ['acct_2', 'acct_1', 'acct_3'], 2)).toEqual(['x', 'a']);
});
