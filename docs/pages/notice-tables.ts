import { inWords, kinds } from '../../src/notifications/domain/kinds.ts';
import type {
  OwnersKind,
  NotificationContent,
} from '../../src/notifications/domain/notification.ts';
import { payload, ping } from '../../src/notifications/domain/payload.ts';
import { everyKind } from '../../test/support/notifications.ts';
import { code, list, type Printed, table } from './markdown.ts';

type ForOwners = Extract<NotificationContent, { kind: OwnersKind }>;
const isForOwners = (told: NotificationContent): told is ForOwners =>
  kinds[told.kind].to === 'owners';
const forOwners = everyKind().filter(isForOwners);

export const noticeTables = (): Readonly<Record<string, Printed>> => ({
  kinds: table(
    ['Kind', 'When', 'What it says, for example'],
    forOwners.map((told) => [code(told.kind), kinds[told.kind].when, inWords(told).title]),
  ),
});

const occurredAt = new Date('2026-03-01T10:00:00.000Z');
const fieldsOf = (told: ForOwners): string =>
  list(fields(payload({ ...told, id: '', accountId: 'acc_1', occurredAt }).data));
const fields = (data: object) => Object.keys(data).filter((field) => field !== 'accountId');

export const webhookTables = (): Readonly<Record<string, Printed>> => ({
  types: table(
    ['Type', 'Fields of `data`'],
    [
      ...forOwners.map((told) => [code(told.kind), fieldsOf(told)]),
      ['`test.ping`', list(fields(ping({ id: 'hook_1', accountId: 'acc_1' }, occurredAt).data))],
    ],
  ),
});
