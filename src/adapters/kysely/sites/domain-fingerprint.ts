import { hash } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { Database } from '../database.ts';
import type { Schema } from '../schema.ts';

/**
 * See `CustomDomains.fingerprint`. Rows are compared as they are stored, without reading the JSON in them. Other accounts
 * may prove a name or a wildcard that covers it, and may use up a limit of the authority: so the holders and the ledger are those of all accounts.
 */
export const domainFingerprint = (
  database: Database,
): ((slug: string, host?: string) => Promise<string>) => {
  const ofAll = database.prepare<{ slug: string }, object>((db, the) =>
    attached(db).where('projects.slug', '=', the('slug')),
  );
  const ofOne = database.prepare<{ slug: string; host: string }, object>((db, the) =>
    attached(db)
      .where('projects.slug', '=', the('slug'))
      .where('domains.attached_host', '=', the('host')),
  );
  return async (slug, host) => {
    const rows = await (host === undefined ? ofAll({ slug }) : ofOne({ slug, host }));
    return hash('sha256', rows.map((row) => Object.values(row).join('\n')).join('\n'), 'base64');
  };
};

const attached = (db: Kysely<Schema>) =>
  db
    .selectFrom('projects')
    .leftJoin('domains', (join) =>
      join
        .onRef('domains.project_id', '=', 'projects.id')
        .on('domains.attached_host', 'is not', null),
    )
    .leftJoin('domains as holders', 'holders.proven_host', 'domains.attached_host')
    .leftJoin('domains as covers', (join) =>
      join.on(({ eb, fn, ref, val }) => {
        const host = ref('domains.attached_host');
        const parent = fn<string>('substr', [host, fn('instr', [host, val('.')])]);
        return eb('covers.proven_host', '=', fn<string>('concat', [val('*'), parent]));
      }),
    )
    .select(['projects.name', 'projects.served_deploy_id', 'projects.domain_settings'])
    .select([
      'domains.id',
      'domains.state',
      'domains.generation',
      'domains.details',
      'holders.id as holder',
      // A holder that is only added may lose and regain its proof, with a check each time.
      'holders.due_at as holder_due',
      'covers.id as cover',
      'covers.due_at as cover_due',
    ])
    .select((eb) => [
      eb
        .selectFrom('authority_ledger')
        .select(({ fn }) => fn.max('authority_ledger.id').as('newest'))
        .as('spent'),
      eb
        .selectFrom('domain_shares')
        .select(({ fn }) => fn.max('domain_shares.created_at').as('newest'))
        .whereRef('domain_shares.domain_id', '=', 'domains.id')
        .as('shared'),
      eb
        .selectFrom('domain_shares')
        .select(({ fn }) => fn.countAll().as('count'))
        .whereRef('domain_shares.domain_id', '=', 'domains.id')
        .as('shares'),
    ]);
