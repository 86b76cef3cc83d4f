import { expect, test } from '@jest/globals';
import { payloadDocument } from '../../../src/adapters/http/reference/payload-schemas.ts';
import type { OwnersKind, Told } from '../../../src/notifications/domain/notification.ts';
import { kinds } from '../../../src/notifications/domain/kinds.ts';
import { messageTypes, payload, ping } from '../../../src/notifications/domain/payload.ts';
import { everyKind } from '../../support/notifications.ts';
import { documentedPayload } from '../../support/webhooks/documented-payload.ts';

const occurredAt = new Date('2026-03-01T10:00:00.000Z');
const isForOwners = (told: Told): told is Extract<Told, { kind: OwnersKind }> =>
  kinds[told.kind].to === 'owners';

const messages = [
  ...everyKind()
    .filter(isForOwners)
    .map((told) => payload({ ...told, id: 'event_1', accountId: 'account_1', occurredAt })),
  ping({ id: 'hook_1', accountId: 'account_1' }, occurredAt),
];

test.each(messages.map((message) => [message.type, message] as const))(
  'What a webhook is called with for %s is as its published schema says',
  (type, message) => {
    expect(documentedPayload(JSON.stringify(message))).toEqual(message);
    expect(message.type).toBe(type);
  },
);

test('Each type of message is tried', () => {
  expect(new Set(messages.map(({ type }) => type))).toEqual(new Set(messageTypes));
});

test('The check fails for a field too few, a field too many, another type of value, and an unknown type', () => {
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

test('Published schemas allow fields that later versions add', () => {
  expect(JSON.stringify(payloadDocument('domain.live', ''))).not.toContain('additionalProperties');
});
