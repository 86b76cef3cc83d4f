import type { ExpressionBuilder } from 'kysely';
import { provenElsewhere } from '../../../domains/domain/attachment/contested-name.ts';
import type { CustomDomains, WantedDomains } from '../../../domains/ports.ts';
import { projectNotFound } from '../../../sites/domain/sites-error.ts';
import {
  mostRivalsTold,
  type CustomDomain,
} from '../../../domains/domain/attachment/custom-domain.ts';
import type { Certified } from '../../../domains/domain/attachment/domain-certificate.ts';
import { awaitsCertificate, isWithheldFrom } from '../../../domains/domain/attachment/serving.ts';
import { baseOf, isWildcard, wildcardOver } from '../../../domains/domain/names/hostname.ts';
import { type Database, type Queries, fromMillis, toMillis, type Schema } from '../database.ts';
import { domains } from './tables.ts';

/** Reads facts about new domains. Serialises the adds of one account. @throws DomainError `project_not_found` */
export const lookAtAccount = async (
  database: Database,
  { accountId, projectId, addedSince }: Omit<WantedDomains, 'hosts'>,
  holdersOf: CustomDomains['holdersOf'],
) => {
  const { db } = database;
  const owner = await database.lock('accounts', accountId);
  const project = await database.lock('projects', projectId);
  const isOut = owner?.deleted_at !== null || project?.deleted_at !== null;
  if (isOut || project.account_id !== accountId) throw projectNotFound(projectId);
  const own = await attachedTo(db, accountId);
  const account = {
    current: own.length,
    addedLately: await addedSinceOf(db, accountId, addedSince),
    hasSucceededDeploy: project.served_deploy_id !== null,
  };
  const factsOf = async (host: string) => {
    const same = own.find((one) => one.host === host);
    return {
      ...account,
      provenElsewhere: provenElsewhere({ id: '', accountId, host }, await holdersOf(host)),
      attachedTo: same && {
        name: same.name,
        isThisOne: same.project_id === projectId,
        isDeleted: same.deleted_at !== null,
      },
    };
  };
  return { project, factsOf };
};

const attachedTo = (db: Queries, accountId: string) =>
  db
    .selectFrom('domains')
    .innerJoin('projects', 'projects.id', 'domains.project_id')
    .select(['domains.host', 'domains.project_id', 'projects.name', 'projects.deleted_at'])
    .where('domains.account_id', '=', accountId)
    .where('domains.attached_host', 'is not', null)
    .execute();

/** Counts removed domains too. */
const addedSinceOf = async (
  db: Queries,
  accountId: string,
  since: Date,
): Promise<readonly Date[]> => {
  const rows = await db
    .selectFrom('domains')
    .select('added_at')
    .where('account_id', '=', accountId)
    .where('added_at', '>', toMillis(since))
    .orderBy('added_at', 'desc')
    .execute();
  return rows.map(({ added_at }) => fromMillis(added_at));
};

/** Selects the project's domains that no wildcard of another account may serve. */
export const withheldOf = async (
  db: Queries,
  ofProject: readonly CustomDomain[],
): Promise<readonly string[]> => {
  const waiting = ofProject.filter(awaitsCertificate);
  const names = waiting.flatMap(({ host }) => wildcardOver(host) ?? []);
  if (names.length === 0) return [];
  const wildcards = await db
    .selectFrom('domains')
    .select(['host', 'account_id as accountId'])
    .where('proven_host', 'in', names)
    .execute();
  return waiting
    .filter((one) => wildcards.some((wildcard) => isWithheldFrom(one, wildcard)))
    .map(({ host }) => host);
};

/**
 * Selects projects with names below a newly proven wildcard that wait for their certificates. Locks added names: if one
 * is verified at the same moment, either this query sees it or it sees the wildcard.
 */
export const projectsBelow = async (
  { db, engine }: Database,
  { host, id }: Pick<CustomDomain, 'host' | 'id'>,
): Promise<readonly string[]> => {
  if (!isWildcard(host)) return [];
  const below = await db
    .selectFrom('domains')
    .select('id')
    .where((eb) => isBelow(eb, host))
    .where('state', 'in', ['added', 'verified'])
    .where('id', '!=', id)
    .execute();
  if (below.length === 0) return [];
  const rows = await db
    .selectFrom('domains')
    .select(placed.names)
    .where(
      'id',
      'in',
      below.map(({ id }) => id),
    )
    .orderBy('id')
    .$call(engine.locked)
    .execute();
  const waiting = rows.map(placed.read).filter(awaitsCertificate);
  return [...new Set(waiting.map(({ projectId }) => projectId))];
};

const placed = domains.only('projectId', 'state');

/**
 * Selects other domains that wait for a proof of the name, or of a name that the wildcard covers. Takes no locks,
 * because each domain may hold its own lock and wait for this proof.
 */
export const rivalsOf = (db: Queries, { id, host, accountId }: Certified) =>
  db
    .selectFrom('domains')
    .select(['id', 'host', 'account_id as accountId', 'project_id as projectId'])
    .where((eb) => {
      const same = eb('host', '=', host);
      if (!isWildcard(host)) return same;
      const below = [isBelow(eb, host), eb('proven_host', 'is', null)];
      return eb.or([same, eb.and([...below, eb('account_id', '!=', accountId)])]);
    })
    .where('state', '=', 'added')
    .where('id', '!=', id)
    .orderBy('id')
    .limit(mostRivalsTold)
    .execute();

const isBelow = (eb: ExpressionBuilder<Schema, 'domains'>, wildcard: string) => {
  const host = eb.ref('attached_host');
  const parent = eb.fn<string>('substr', [host, eb.fn('instr', [host, eb.val('.')])]);
  return eb(parent, '=', `.${baseOf(wildcard)}`);
};
