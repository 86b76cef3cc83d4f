import { openAccount } from '../../../src/access/domain/account.ts';
import {
  admitToLink,
  admitToSession,
  changePassword,
  changeRole,
  emailOf,
  invitePerson,
  isEmail,
  type Person,
  removePerson,
} from '../../../src/access/domain/person.ts';
import { roles } from '../../../src/access/domain/role.ts';
import { describe, expect, test } from '@jest/globals';

const now = new Date('2026-03-01T10:00:00Z');
const draft = {
  id: 'pers_1',
  accountId: 'acct_1',
  email: 'mia@shop.example',
  role: 'owner',
} as const;
const open = (email: string) =>
  openAccount({ id: 'acct_1', name: 'Zoo', email, plan: 'free' }, now);
const invite = (email: string) => invitePerson({ ...draft, email }, now);

test('an address is stored and looked up in lower case, without spaces around it', () => {
  expect(emailOf('\t MIA@Shop.Example ')).toBe('mia@shop.example');
});

describe('an address', () => {
  test.each([
    'a@b.c',
    `${'x'.repeat(64)}@${'y'.repeat(63)}.${'y'.repeat(63)}.${'y'.repeat(53)}.example`,
    'zoë@bücher.example',
    "o'hara+shop@mail.example",
  ])('may be %s, for an account and for a person', (email) => {
    expect(isEmail(email)).toBe(true);
    expect([open(email).state.email, invite(email).state.email]).toEqual([email, email]);
  });

  test.each([
    '',
    'mia',
    'mia@',
    '@shop.example',
    'mia@shop',
    'mia@shop.',
    'mia@.example',
    'mia@@shop.example',
    'mia@shop@other.example',
    'mia smith@shop.example',
    'mia@shop .example',
    'mia\u0007@shop.example',
    'mia@shop\u0000.example',
    'mia@shop.exam\u0085ple',
    'mia\ud800@shop.example',
    `${'x'.repeat(64)}@${'y'.repeat(63)}.${'y'.repeat(63)}.${'y'.repeat(54)}.example`,
    `${'x'.repeat(65)}@shop.example`,
    'mia@shop.example>',
    '<mia@shop.example',
    '<mia@shop.example>',
    '"mia"@shop.example',
    '(c)mia@shop.example',
    'a,mia@shop.example',
    'g:mia@shop.example',
    'mia..smith@shop.example',
    '.mia@shop.example',
    'mia@shop.example.',
    'mia@shop_one.example',
    'mia@-shop.example',
    'mia@[127.0.0.1]',
    'mia@127.0.0.1',
    'mia\u202e@shop.example',
    'mia\u200b@shop.example',
    'mia@ｓhop.example',
  ])('cannot be %j, for an account or a person', (email) => {
    expect(isEmail(email)).toBe(false);
    expect(() => open(email)).toThrow(expect.objectContaining({ code: 'account_invalid' }));
    expect(() => invite(email)).toThrow(expect.objectContaining({ code: 'person_invalid' }));
  });
});

const about = { accountId: 'acct_1', occurredAt: now, personId: 'pers_1' };
const mia: Person = {
  ...draft,
  passwordHash: undefined,
  createdAt: now,
  name: undefined,
  joinedAt: undefined,
  provenAt: undefined,
  factorSince: undefined,
};

describe('inviting a person', () => {
  test('lower-cases and trims the address, and records the invitation', () => {
    expect(invitePerson({ ...draft, email: ' Mia@Shop.Example\n' }, now)).toEqual({
      state: mia,
      events: [{ type: 'person_invited', ...about, email: 'mia@shop.example', role: 'owner' }],
    });
  });

  test('is refused for an invalid address', () => {
    const inviting = () => invitePerson({ ...draft, email: ' Mia@shop ' }, now);
    expect(inviting).toThrow(expect.objectContaining({ code: 'person_invalid' }));
    expect(inviting).toThrow(
      '"mia@shop" is not an email address; write it like keeper@shop.example.',
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

  test('records the removed person', () => {
    const removed = { type: 'person_removed', ...about, email: mia.email };
    expect(removePerson([mia, other], mia.id, now)).toEqual([removed]);
  });

  test('is refused for the last owner', () => {
    const viewer: Person = { ...other, role: 'viewer' };
    const removing = () => removePerson([mia, viewer], mia.id, now);
    expect(removePerson([mia, viewer], viewer.id, now)).toHaveLength(1);
    expect(removing).toThrow(expect.objectContaining({ code: 'last_owner' }));
    expect(removing).toThrow('mia@shop.example is the only owner of this account');
  });

  test.each([[[]], [[mia]], [[mia, other]]])('is refused for an unknown person', (people) => {
    const removing = () => removePerson(people, 'pers_3', now);
    expect(removing).toThrow(expect.objectContaining({ code: 'person_not_found' }));
  });
});

describe("changing a person's role", () => {
  const ben: Person = { ...mia, id: 'pers_2', email: 'ben@shop.example', role: 'editor' };

  test.each(roles)('makes an editor %s, with an event unless it changes nothing', (role) => {
    const { state, events } = changeRole([mia, ben], ben.id, { role, now });
    expect(state).toEqual({ ...ben, role });
    const told = { type: 'person_role_changed', ...about, personId: ben.id, email: ben.email };
    expect(events).toEqual(role === 'editor' ? [] : [{ ...told, from: 'editor', to: role }]);
  });

  test('is refused when it would leave no owner, and for an unknown person', () => {
    const lowering = () => changeRole([mia, ben], mia.id, { role: 'viewer', now });
    expect(lowering).toThrow(expect.objectContaining({ code: 'last_owner' }));
    const two = [mia, { ...ben, role: 'owner' }] as const;
    expect(changeRole(two, mia.id, { role: 'viewer', now }).state.role).toBe('viewer');
    const unknown = () => changeRole([mia], 'pers_3', { role: 'viewer', now });
    expect(unknown).toThrow(expect.objectContaining({ code: 'person_not_found' }));
  });
});

describe('at the start of a session', () => {
  const later = new Date('2026-03-02T10:00:00Z');
  const byLink = { way: 'link', linkHash: 'of a link' } as const;
  const byPassword = (passwordHash: string) => ({ way: 'password', passwordHash }) as const;
  const invited = { ...invite(draft.email).state, passwordHash: 'hash' };
  const joined = { ...invited, joinedAt: now };
  const plain = { startedAt: later, resetsPassword: false };
  const resets = { startedAt: later, resetsPassword: true };

  test.each([
    ['the password has changed', joined],
    ['there is no password any more', { ...joined, passwordHash: undefined }],
    ['the person was removed', undefined],
  ])('a password is refused if %s', (_, person) => {
    const start = () => admitToSession(person, byPassword('old hash'), plain);
    expect(start).toThrow(expect.objectContaining({ code: 'sign_in_refused' }));
  });

  test('the first one joins and ends other links', () => {
    const started = { person: { ...invited, joinedAt: later }, ends: 'links' };
    expect(admitToSession(invited, byLink, plain)).toEqual(started);
    expect(admitToSession(invited, byPassword('hash'), plain)).toEqual(started);
  });

  test('a later one changes nothing', () => {
    const unchanged = { person: joined, ends: 'nothing' };
    expect(admitToSession(joined, byPassword('hash'), plain)).toEqual(unchanged);
    const proven = { ...joined, provenAt: now };
    expect(admitToSession(proven, byLink, resets)).toEqual({ person: proven, ends: 'nothing' });
  });

  test.each([invited, joined])('the first proof of the address ends everything earlier', (one) => {
    const { joinedAt = later } = one;
    const proven = { ...one, joinedAt, provenAt: later, passwordHash: undefined };
    expect(admitToSession(one, byLink, resets)).toEqual({ person: proven, ends: 'all' });
  });

  test('others may make a link only for a person who has not joined', () => {
    expect(() => {
      admitToLink(invited, 'newcomer');
      admitToLink(joined, 'anybody');
    }).not.toThrow();
    expect(() => {
      admitToLink(joined, 'newcomer');
    }).toThrow(expect.objectContaining({ code: 'person_joined' }));
  });
});
