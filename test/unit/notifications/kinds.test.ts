import { describe, expect, test } from '@jest/globals';
import { everyKind } from '../../support/notifications.ts';
import { documentedPayload } from '../../support/webhooks/documented-payload.ts';
import { inWords, kinds } from '../../../src/notifications/domain/kinds.ts';
import { payloadDocument } from '../../../src/adapters/http/reference/payload-schemas.ts';
import type {
  OwnersKind,
  NotificationContent,
} from '../../../src/notifications/domain/notification.ts';
import { messageTypes, payload, ping } from '../../../src/notifications/domain/payload.ts';

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

test('a notice about a certificate says who acts, and when the current one ends', () => {
  const failing = everyKind().find(({ kind }) => kind === 'certificate.failing')!;
  const { text } = inWords(failing);
  expect(text).toContain('You need to act.');
  expect(text).toContain('ends on 9 March 2026, 10:00 UTC');
});

test('the notice about a pending contested domain names the record that proves it, and how to give up', () => {
  const proof = 'the TXT record';
  const about = { project: 'birds', host: 'a.test', name: 'a.test', isTaken: false, proof };
  const { title, text, link } = inWords({ kind: 'domain.contested', about });
  expect(title).toBe('Another account has proven that it owns a.test');
  expect(text).toContain('create the TXT record too');
  expect(text).toContain('remove the domain');
  expect(link.text).toBe('Show the records');
});

test('a quota notice contains its day, because people may read it on another day', () => {
  const titles = everyKind().map((told) => inWords(told).title);
  expect(titles).toContain('80 % of the requests of 1 March 2026 are used');
  expect(titles).toContain('All requests of 1 March 2026 are used');
});

test('an event that concerns a single person is not for all owners', () => {
  const personal = Object.entries(kinds).filter(([, { to }]) => to === 'person');
  expect(personal.map(([kind]) => kind)).toEqual([
    ...['person.invited', 'sign_in.link', 'password.changed', 'second_factor.changed'],
    'account.deleted',
  ]);
});

const occurredAt = new Date('2026-03-01T10:00:00.000Z');
const isForOwners = (
  told: NotificationContent,
): told is Extract<NotificationContent, { kind: OwnersKind }> => kinds[told.kind].to === 'owners';

const messages = [
  ...everyKind()
    .filter(isForOwners)
    .map((told) => payload({ ...told, id: 'event_1', accountId: 'account_1', occurredAt })),
  ping({ id: 'hook_1', accountId: 'account_1' }, occurredAt),
];

test.each(messages.map((message) => [message.type, message] as const))(
  'The message of a webhook for %s matches its published schema',
  (type, message) => {
    expect(documentedPayload(JSON.stringify(message))).toEqual(message);
    expect(message.type).toBe(type);
  },
);

test('every type of message is tested', () => {
  expect(new Set(messages.map(({ type }) => type))).toEqual(new Set(messageTypes));
});

test('the check fails for a missing field, an extra field, another type of value, and an unknown type', () => {
  const [{ data, ...envelope }] = [messages.find(({ type }) => type === 'quota.reached')!];
  const { accountId: _, ...without } = data;
  for (const wrong of [
    { ...envelope, data: without },
    { ...envelope, data: { ...data, extra: 1 } },
    { ...envelope, data: { ...data, used: '1' } },
    { ...envelope, data: { ...data, resetsAt: 'tomorrow' } },
    { ...envelope, data, extra: 1 },
    { data, type: envelope.type },
    { ...envelope, data, type: 'quota.unheard' },
  ])
    expect(() => documentedPayload(JSON.stringify(wrong))).toThrow();
});

test('published schemas allow fields that later versions add', () => {
  expect(JSON.stringify(payloadDocument('domain.live', ''))).not.toContain('additionalProperties');
});
