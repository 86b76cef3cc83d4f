import type { Sealer } from '../../kernel/sealer.ts';
import type { Schema } from './schema.ts';

/** A table with a sealed value does not compile until it is listed below. */
type SealedTable = {
  readonly [Name in keyof Schema]: 'sealed_by' extends keyof Schema[Name] ? Name : never;
}[keyof Schema];

/** The purpose of each: a value does not open in another table or row. */
export const sealedTables = {
  certificates: {
    ...{ key: 'host', column: 'private_key' },
    purpose: (host) => `certificate of ${host}`,
  },
  certificate_orders: {
    ...{ key: 'subject', column: 'private_key' },
    purpose: (subject) => `order of ${subject}`,
  },
  authority_accounts: {
    ...{ key: 'directory_url', column: 'private_key' },
    purpose: (url) => `account at ${url}`,
  },
  mails: { key: 'id', column: 'facts', purpose: (id) => `mail ${id}` },
  webhooks: { key: 'id', column: 'secrets', purpose: (id) => `secrets of the webhook ${id}` },
} as const satisfies {
  readonly [Name in SealedTable]: {
    readonly key: keyof Schema[Name];
    readonly column: keyof Schema[Name];
    readonly purpose: (key: string) => string;
  };
};

export type Sealed = Readonly<{ sealed: string; sealed_by: string }>;

/** The row of `key` stores both. */
export const seal = (sealer: Sealer, table: SealedTable, key: string, secret: string): Sealed => ({
  sealed: sealer.seal(secret, sealedTables[table].purpose(key)),
  sealed_by: sealer.keyIds[0],
});

/** @throws Error when it was changed, or sealed under a key that this process does not have */
export const open = (
  sealer: Sealer,
  table: SealedTable,
  key: string,
  { sealed, sealed_by }: Sealed,
): string => sealer.open(sealed, sealedTables[table].purpose(key), sealed_by);

export type SealedColumns = Readonly<{ private_key: string; sealed_by: string }>;

/** The columns that store the private key of `key`. */
export const sealedColumns = (
  ...[sealer, table, key, privateKey]: Parameters<typeof seal>
): SealedColumns => {
  const { sealed: private_key, sealed_by } = seal(sealer, table, key, privateKey);
  return { private_key, sealed_by };
};

/** As `open`. */
export const openColumns = (
  sealer: Sealer,
  table: SealedTable,
  key: string,
  { private_key: sealed, sealed_by }: SealedColumns,
): string => open(sealer, table, key, { sealed, sealed_by });
