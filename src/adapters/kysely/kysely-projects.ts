import type { Project } from '../../sites/domain/project.ts';
import { projectAccountNotFound, slugTaken } from '../../sites/domain/sites-error.ts';
import type { SitesEvent } from '../../sites/domain/sites-event.ts';
import { Projects } from '../../sites/ports.ts';
import type { Decision } from '../../kernel/decision.ts';
import type { Database } from './database.ts';
import { failureOf } from './failure.ts';
import type { KyselyOutbox } from './kysely-outbox.ts';
import { fromMillis, toMillis } from './schema.ts';

export class KyselyProjects extends Projects {
  readonly #database: Database;
  readonly #outbox: KyselyOutbox;

  constructor(database: Database, outbox: KyselyOutbox) {
    super();
    this.#database = database;
    this.#outbox = outbox;
  }

  async add({ state, events }: Decision<Project, SitesEvent>): Promise<void> {
    const { accountId, createdAt, ...project } = state;
    await this.#database.transaction(async (db) => {
      try {
        await db
          .insertInto('projects')
          .values({ ...project, account_id: accountId, created_at: toMillis(createdAt) })
          .execute();
      } catch (error) {
        const failure = failureOf(error);
        if (failure === 'duplicate') throw slugTaken(project.slug);
        throw failure === 'missing_parent' ? projectAccountNotFound(accountId) : error;
      }
      await this.#outbox.append(events);
    });
  }

  async list(accountId: string): Promise<readonly Project[]> {
    const rows = await this.#database.run((db) =>
      db
        .selectFrom('projects')
        .selectAll()
        .where('account_id', '=', accountId)
        .orderBy('created_at')
        .orderBy('id')
        .execute(),
    );
    return rows.map(({ account_id, created_at, ...project }) => ({
      ...project,
      accountId: account_id,
      createdAt: fromMillis(created_at),
    }));
  }
}
