import { describe, expect, test } from '@jest/globals';
import {
  changePassword,
  invitePerson,
  removePerson,
  type Person,
} from '../../../src/access/domain/person.ts';

const now = new Date('2026-03-01T10:00:00Z');
const draft = { id: 'pers_1', accountId: 'acct_1', email: 'mia@shop.example' };
const about = { accountId: 'acct_1', occurredAt: now, personId: 'pers_1' };
const mia: Person = {
  ...draft,
  passwordHash: undefined,
  createdAt: now,
  ...{ joinedAt: undefined, provenAt: undefined },
};

describe('inviting a person', () => {
  test('lower-cases and trims the address, and records the invitation', () => {
    expect(invitePerson({ ...draft, email: ' Mia@Shop.Example\n' }, now)).toEqual({
      state: mia,
      events: [{ type: 'person_invited', ...about, email: 'mia@shop.example' }],
    });
  });

  test('is refused for an invalid address', () => {
    const inviting = () => invitePerson({ ...draft, email: ' Mia@shop ' }, now);
    expect(inviting).toThrow(expect.objectContaining({ code: 'person_invalid' }));
    expect(inviting).toThrow(
      '"mia@shop" is not an e-mail address; write it like keeper@shop.example.',
    );
  });
});

describe('a password', () => {
  test('is changed with an event that does not contain it', () => {
    expect(changePassword(mia, 'the hash', now)).toEqual({
      state: { ...mia, passwordHash: 'the hash' },
      events: [{ type: 'password_changed', ...about }],
    });
  });
});

describe('removing a person', () => {
  const other: Person = { ...mia, id: 'pers_2', email: 'ben@shop.example' };

  test('records who it was', () => {
    const removed = { type: 'person_removed', ...about, email: mia.email };
    expect(removePerson([mia, other], mia.id, now)).toEqual([removed]);
  });

  test('is refused when nobody else could sign in', () => {
    const removing = () => removePerson([mia], mia.id, now);
    expect(removing).toThrow(expect.objectContaining({ code: 'last_person' }));
    expect(removing).toThrow('mia@shop.example is the only one who can sign in');
  });

  test.each([[[]], [[mia]], [[mia, other]]])('is refused for an unknown person', (people) => {
    const removing = () => removePerson(people, 'pers_3', now);
    expect(removing).toThrow(expect.objectContaining({ code: 'person_not_found' }));
  });
});
