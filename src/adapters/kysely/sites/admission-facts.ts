import { provenElsewhere } from '../../../domains/domain/attachment/contested-name.ts';
import type { CustomDomains, WantedDomain } from '../../../domains/ports.ts';
import { projectNotFound } from '../../../sites/domain/sites-error.ts';
import type { Database, Queries } from '../database.ts';
import { fromMillis, toMillis } from '../schema.ts';

/**
 * What decides on new domains of a project, for the transaction that adds them: it serialises the adds of one account, across
 * its projects.
 * @throws DomainError `project_not_found`
 */
export const lookAtAccount = async (
  database: Database,
  { accountId, projectId, addedSince }: Omit<WantedDomain, 'host'>,
  holdersOf: CustomDomains['holdersOf'],
) => {
  const { db } = database;
  await database.lock('accounts', accountId);
  const project = await database.lock('projects', projectId);
  if (project?.account_id !== accountId) throw projectNotFound(projectId);
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
      attachedTo: same && { name: same.name, isThisOne: same.project_id === projectId },
    };
  };
  return { project, factsOf };
};

const attachedTo = (db: Queries, accountId: string) =>
  db
    .selectFrom('domains')
    .innerJoin('projects', 'projects.id', 'domains.project_id')
    .select(['domains.host', 'domains.project_id', 'projects.name'])
    .where('domains.account_id', '=', accountId)
    .where('domains.attached_host', 'is not', null)
    .execute();

/** Removed ones too. */
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
