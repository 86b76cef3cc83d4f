import { toJsonSchema, type JsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { givenUpReasons, responsibles } from '../../../notifications/domain/notification.ts';
import type { MessageType, Payloads } from '../../../notifications/domain/payload.ts';

// The payloads of webhooks. A new type or field does not compile until it is described here.

const text = (description: string) => v.pipe(v.string(), v.description(description));
const time = (description: string) =>
  v.pipe(v.string(), v.isoTimestamp(), v.description(`${description} UTC.`));
const count = (description: string) =>
  v.pipe(v.number(), v.integer(), v.minValue(0), v.description(description));

const ofAccount = { accountId: text('The account that this is about.') };
const ofProject = { ...ofAccount, project: text('The slug of the project.') };
const ofHost = {
  ...ofProject,
  host: text('The domain, as A-labels: `xn--bcher-kva.example`, not `bücher.example`.'),
};
const ofTrouble = {
  ...ofHost,
  problem: text('A code; new ones may be added. Empty while the reason is not known.'),
  actor: v.pipe(
    v.picklist(responsibles),
    v.description('Who can fix it: `customer` is you, `us` is the service.'),
  ),
  title: text('The problem in words, for people.'),
  fix: text('What would help, for people.'),
};
const ofQuota = {
  ...ofAccount,
  used: count('Requests used today.'),
  limit: count('Requests that the plan allows per day.'),
  resetsAt: time('When the next day begins.'),
};

const dataSchemas = {
  'domain.live': v.object(ofHost),
  'domain.removed': v.object(ofHost),
  'domain.expired': v.object(ofHost),
  'domain.contested': v.object({
    ...ofHost,
    taken: v.pipe(
      v.boolean(),
      v.description(
        'Whether the other account took the domain over. If not, yours still waits, and needs the record that proves the name now.',
      ),
    ),
  }),
  'domain.unhealthy': v.object(ofTrouble),
  'domain.recovered': v.object(ofHost),
  'certificate.failing': v.object({
    ...ofTrouble,
    expiresAt: v.pipe(
      v.nullable(v.pipe(v.string(), v.isoTimestamp())),
      v.description('When the current certificate ends. Null if there has never been one. UTC.'),
    ),
  }),
  'certificate.recovered': v.object({
    ...ofHost,
    expiresAt: time('When the new certificate ends.'),
  }),
  'project.deleted': v.object({
    ...ofProject,
    name: text('The name of the project.'),
    until: time('Until when it can be restored.'),
  }),
  'deploy.failed': v.object({
    ...ofProject,
    number: count('The number of the deploy in its project.'),
    explanation: text('Why it failed, for people.'),
  }),
  'key.banned': v.object({
    ...ofAccount,
    keyId: text('The id of the API key.'),
    name: text('The name of the API key.'),
    until: time('When the ban ends.'),
  }),
  'quota.warning': v.object(ofQuota),
  'quota.reached': v.object(ofQuota),
  'operation.removal': v.object({
    ...ofAccount,
    operation: text('The operation of the API, as named in its reference.'),
    removedAt: time('When it starts to answer 410.'),
    days: count('Days until its removal.'),
  }),
  'webhook.off': v.object({
    ...ofAccount,
    webhookId: text('The id of the webhook that was switched off.'),
    receiver: text('The host that it called.'),
    reason: v.pipe(
      v.picklist(givenUpReasons),
      v.description('`gone`: it answered 410. `failing`: no delivery succeeded for five days.'),
    ),
  }),
  'test.ping': v.object({ ...ofAccount, webhookId: text('The id of the webhook that is tried.') }),
} satisfies {
  readonly [Type in MessageType]: {
    readonly entries: {
      readonly [Field in keyof Payloads[Type]]-?: v.GenericSchema<unknown, Payloads[Type][Field]>;
    };
  };
};

const payloadSchema = (type: MessageType) =>
  v.object({
    type: v.literal(type),
    timestamp: time('When it happened, not when it is sent.'),
    data: dataSchemas[type],
  });

/** JSON Schema 2020-12. It allows additional fields, which later versions may add. @param address the schema's URL */
export const payloadDocument = (type: MessageType, address: string): JsonSchema => ({
  $id: address,
  title: `Webhook ${type}`,
  ...toJsonSchema(payloadSchema(type), { target: 'draft-2020-12' }),
});
