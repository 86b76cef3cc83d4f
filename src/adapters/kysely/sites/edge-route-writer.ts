import type { Kysely } from 'kysely';
import type { Route } from '../../../domains/domain/redirects/routes.ts';
import { nextEdgeRevision } from './edge-revision.ts';
import { routeColumns } from './route-rows.ts';
import { toMillis, type Schema } from '../schema.ts';

// For the other adapters of this folder, last in their transaction: see `nextEdgeRevision`.

/** Sets the route of a name; replaces an earlier one. */
export const setRoute = async (db: Kysely<Schema>, route: Route): Promise<void> => {
  const revision = await nextEdgeRevision(db);
  await db.deleteFrom('routes').where('name', '=', route.name).execute();
  await db
    .insertInto('routes')
    .values({ ...routeColumns(route), revision })
    .execute();
};

const nowhere = { deploy_id: null, redirect_to: null, redirect_status: null };

/** Removing an absent route is no error. */
export const removeRoute = async (
  db: Kysely<Schema>,
  name: string,
  removedAt: Date,
): Promise<void> => {
  const revision = await nextEdgeRevision(db);
  await db
    .updateTable('routes')
    .set({ ...nowhere, revision, removed_at: toMillis(removedAt) })
    .where('name', '=', name)
    .where('removed_at', 'is', null)
    .execute();
};

/** Deletes the private key immediately. Removing an absent certificate is no error. */
export const removeCertificate = async (
  db: Kysely<Schema>,
  host: string,
  removedAt: Date,
): Promise<void> => {
  const revision = await nextEdgeRevision(db);
  const nothing = {
    chain: null,
    private_key: null,
    sealed_by: null,
    not_before: null,
    not_after: null,
  };
  await db
    .updateTable('certificates')
    .set({ ...nothing, revision, removed_at: toMillis(removedAt) })
    .where('host', '=', host)
    .where('removed_at', 'is', null)
    .execute();
};
