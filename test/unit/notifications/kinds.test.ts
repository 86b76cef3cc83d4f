import { describe, expect, test } from '@jest/globals';
import { inWords, kinds } from '../../../src/notifications/domain/kinds.ts';
import { everyKind } from '../../support/notifications.ts';

describe.each(everyKind())('a notification of the kind $kind', (told) => {
  const { title, text, link } = inWords(told);

  test('has a title without a full stop, and sentences without gaps', () => {
    expect(title).toMatch(/^\S.{5,}[^.]$/);
    expect(text).toMatch(/^[A-Z\d].*\.$/);
    expect(`${title} ${text} ${link.text}`).not.toMatch(/undefined|NaN|\[object|\{| {2}|\.\./);
  });

  test('has one link, to a page of the dashboard', () => {
    expect(link.path).toMatch(/^\/dashboard\/[\w/.-]+(\?by=mail)?$/);
    expect(link.text).toMatch(/^[A-Z][a-z ]+$/);
  });
});

test('who acts is said of a certificate, and when the current one ends', () => {
  const failing = everyKind().find(({ kind }) => kind === 'certificate.failing')!;
  const { text } = inWords(failing);
  expect(text).toContain('You need to act.');
  expect(text).toContain('ends on 9 March 2026, 10:00 UTC');
});

test('of a contested domain that still waits, the record that proves it is said to be needed, and how to give up', () => {
  const proof = 'the TXT record';
  const about = { project: 'birds', host: 'a.test', name: 'a.test', isTaken: false, proof };
  const { title, text, link } = inWords({ kind: 'domain.contested', about });
  expect(title).toBe('Another account has proven that it owns a.test');
  expect(text).toContain('create the TXT record too');
  expect(text).toContain('remove the domain');
  expect(link.text).toBe('Show the records');
});

test('a quota is told with its day, since the notice is read on other days too', () => {
  const titles = everyKind().map((told) => inWords(told).title);
  expect(titles).toContain('80 % of the requests of 1 March 2026 are used');
  expect(titles).toContain('All requests of 1 March 2026 are used');
});

test('what concerns a single person is not for all owners', () => {
  const personal = Object.entries(kinds).filter(([, { to }]) => to === 'person');
  expect(personal.map(([kind]) => kind)).toEqual([
    ...['person.invited', 'sign_in.link', 'password.changed', 'second_factor.changed'],
    'account.deleted',
  ]);
});
