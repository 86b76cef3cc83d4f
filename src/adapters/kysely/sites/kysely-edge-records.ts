import type { Selectable } from 'kysely';
import type { EdgeRecords, EdgeChanges, LoadedCertificate } from '../../../domains/ports.ts';
import { SealingStore } from '../store.ts';
import { validityFrom } from './kysely-certificates.ts';
import { routeFrom, type RouteRow } from './project-routes.ts';
import { present } from '../table.ts';
import type { Schema } from '../database.ts';
import { openColumns } from '../sealed-values.ts';

type CertificateRow = Selectable<Schema['certificates']>;
type Page = Readonly<{ after: bigint; limit: number }>;

/** So few that no query comes near its deadline. */
const rowsPerQuery = 2000;

export class KyselyEdgeRecords extends SealingStore implements EdgeRecords {
  readonly #revision = this.database.prepare<Record<string, never>, { revision: bigint }>((db) =>
    db.selectFrom('edge_revision').select('revision'),
  );

  readonly #routes = this.database.prepare<Page, RouteRow>((db, the) =>
    db
      .selectFrom('routes')
      .selectAll()
      .where('revision', '>', the('after'))
      .orderBy('revision')
      .limit(the('limit')),
  );

  readonly #certificates = this.database.prepare<Page, CertificateRow>((db, the) =>
    db
      .selectFrom('certificates')
      .selectAll()
      .where('revision', '>', the('after'))
      .orderBy('revision')
      .limit(the('limit')),
  );

  /** May return rows twice that were committed while it reads. */
  async changesSince(revision: bigint): Promise<EdgeChanges> {
    const [current] = await this.#revision({});
    if (!current) throw new Error('the row of edge_revision is missing');
    if (current.revision === revision) return { revision, ...nothing };
    // The database was restored from a backup.
    const since = revision < current.revision ? revision : 0n;
    const routes = await latest(this.#routes, since, ({ name }) => name);
    const certificates = await latest(this.#certificates, since, ({ host }) => host);
    return {
      revision: current.revision,
      routes: routes.filter(isServed).map(routeFrom),
      removedRoutes: since === 0n ? [] : routes.filter(isRemoved).map(({ name }) => name),
      certificates: certificates.filter(isServed).map((row) => this.#certificateFrom(row)),
      removedCertificates:
        since === 0n ? [] : certificates.filter(isRemoved).map(({ host }) => host),
    };
  }

  async names(): Promise<readonly string[]> {
    const rows = await this.db
      .selectFrom('routes')
      .select('name')
      .where('removed_at', 'is', null)
      .execute();
    return rows.map(({ name }) => name);
  }

  #certificateFrom(row: CertificateRow): LoadedCertificate {
    const { host, private_key, sealed_by } = row;
    return {
      host,
      chain: present('chain', row.chain),
      ...validityFrom(row),
      privateKey: () => openColumns(this.sealer, 'certificates', { host, private_key, sealed_by }),
    };
  }
}

const nothing = { routes: [], removedRoutes: [], certificates: [], removedCertificates: [] };

const isRemoved = (row: { readonly removed_at: bigint | null }) => row.removed_at !== null;
const isServed = (row: { readonly removed_at: bigint | null }) => row.removed_at === null;

/** Reads page by page. A row that changes meanwhile is read again, and its new revision wins. */
const latest = async <Row extends { readonly revision: bigint }>(
  read: (page: Page) => Promise<readonly Row[]>,
  since: bigint,
  nameOf: (row: Row) => string,
): Promise<readonly Row[]> => {
  const rows = new Map<string, Row>();
  for (let after = since; ;) {
    const page = await read({ after, limit: rowsPerQuery });
    for (const row of page) rows.set(nameOf(row), row);
    const last = page.at(-1);
    if (!last || page.length < rowsPerQuery) return [...rows.values()];
    after = last.revision;
  }
};
