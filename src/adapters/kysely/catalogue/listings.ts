import type { QueryCreator, SelectQueryBuilder } from 'kysely';
import { largestInt64 } from '../../../catalogue/domain/pet.ts';
import type { Page, PageBack } from '../../../catalogue/ports.ts';
import type { Database } from '../database.ts';
import type { Schema } from '../schema.ts';

type Table = 'pets' | 'orders';
type Rows<Row> = (db: QueryCreator<Schema>) => SelectQueryBuilder<Schema, Table, Row>;
type PageOf = Readonly<{ accountId: string; from: bigint; limit: number }>;

/** Lists the rows of an account, all or those of one status, page by page. */
export const listings = <Row>(database: Database, rows: Rows<Row>) => {
  const forwards = prepareList(database, rows, ['>', 'asc']);
  const backwards = prepareList(database, rows, ['<=', 'desc']);
  return {
    list: (accountId: string, { after, limit }: Page, status?: string) =>
      forwards({ accountId, from: after, limit }, status),
    newest: (accountId: string, { before, limit }: PageBack, status?: string) => {
      const from = before === undefined ? largestInt64 : before - 1n;
      return backwards({ accountId, from, limit }, status);
    },
  };
};

const prepareList = <Row>(
  database: Database,
  rows: Rows<Row>,
  [beyond, order]: readonly ['>', 'asc'] | readonly ['<=', 'desc'],
) => {
  const ofAll = database.prepare<PageOf, Row>((db, the) =>
    rows(db)
      .where('account_id', '=', the('accountId'))
      .where('id', beyond, the('from'))
      .orderBy('id', order)
      .limit(the('limit')),
  );
  const ofStatus = database.prepare<PageOf & { readonly status: string }, Row>((db, the) =>
    rows(db)
      .where('account_id', '=', the('accountId'))
      .where('status', '=', the('status'))
      .where('id', beyond, the('from'))
      .orderBy('id', order)
      .limit(the('limit')),
  );
  return (page: PageOf, status: string | undefined): Promise<readonly Row[]> =>
    status === undefined ? ofAll(page) : ofStatus({ ...page, status });
};
