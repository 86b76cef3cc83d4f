import type { Sealer } from '../../kernel/sealer.ts';
import type { Schema } from './schema.ts';

/** A table with a sealed value does not compile until it is listed below. */
type SealedTable = {
  readonly [Name in keyof Schema]: 'sealed_by' extends keyof Schema[Name] ? Name : never;
}[keyof Schema];

/** The purpose of each: a value does not open in another table or row. */
export const sealedTables = {
  certificates: { key: 'host', purpose: (host) => `certificate of ${host}` },
  certificate_orders: { key: 'subject', purpose: (subject) => `order of ${subject}` },
  authority_accounts: { key: 'directory_url', purpose: (url) => `account at ${url}` },
} as const satisfies {
  readonly [Name in SealedTable]: {
    readonly key: keyof Schema[Name];
    readonly purpose: (key: string) => string;
  };
};

export type SealedColumns = Readonly<{ private_key: string; sealed_by: string }>;

/** The columns that store the private key of `key`. */
export const sealedColumns = (
  sealer: Sealer,
  table: SealedTable,
  key: string,
  privateKey: string,
): SealedColumns => ({
  private_key: sealer.seal(privateKey, sealedTables[table].purpose(key)),
  sealed_by: sealer.keyIds[0],
});

/** @throws Error when it was changed, or sealed under a key that this process does not have */
export const openColumns = (
  sealer: Sealer,
  table: SealedTable,
  key: string,
  { private_key, sealed_by }: SealedColumns,
): string => sealer.open(private_key, sealedTables[table].purpose(key), sealed_by);
