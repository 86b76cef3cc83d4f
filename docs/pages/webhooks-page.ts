import { kinds } from '../../src/notifications/domain/kinds.ts';
import type { OwnersKind, Told } from '../../src/notifications/domain/notification.ts';
import { specialRanges } from '../../src/notifications/domain/destination.ts';
import { payload, ping, type Payload } from '../../src/notifications/domain/payload.ts';
import { everyKind } from '../../test/support/notifications.ts';
import { code, list, table } from './markdown.ts';

const isForOwners = (told: Told): told is Extract<Told, { kind: OwnersKind }> =>
  kinds[told.kind].to === 'owners';

const occurredAt = new Date('2026-03-01T10:00:00.000Z');
const example = (told: Extract<Told, { kind: OwnersKind }>): Payload =>
  payload({ ...told, id: '', accountId: 'acc_1', occurredAt });

const typeRows = (): readonly (readonly string[])[] =>
  [
    ...everyKind()
      .filter(isForOwners)
      .map((told) => [told.kind, kinds[told.kind].when, example(told)] as const),
    [
      'test.ping',
      'You clicked “Send a test”. Only that webhook gets it.',
      ping({ id: 'hook_1', accountId: 'acc_1' }, occurredAt),
    ] as const,
  ].map(([type, when, { data }]) => [
    code(type),
    when,
    list(Object.keys(data).filter((field) => field !== 'accountId')),
  ]);

export const webhookTables = (): Readonly<Record<string, string>> => ({
  types: table(['Type', 'When', 'Fields of `data`'], typeRows()),
  ranges: table(
    ['Refused', 'What it is for', 'Source'],
    specialRanges.map(({ network, use, source }) => [code(network), use, source]),
  ),
});
