import type { Clock } from '../../kernel/clock.ts';
import type { DomainSettings } from '../../sites/domain/domain-settings.ts';
import type { ProjectHost } from '../../sites/domain/redirects.ts';
import { projectNotFound } from '../../sites/domain/sites-error.ts';
import { ProjectSettings } from '../../sites/domain-ports.ts';
import type { Database } from './database.ts';
import { alignRoutes, hostsOf, lockProject, settingsFrom } from './project-routes.ts';

export class KyselyProjectSettings extends ProjectSettings {
  readonly #database: Database;
  readonly #clock: Clock;

  constructor(database: Database, clock: Clock) {
    super();
    this.#database = database;
    this.#clock = clock;
  }

  async read(projectId: string): Promise<DomainSettings> {
    const row = await this.#database.run((db) =>
      db
        .selectFrom('projects')
        .select('domain_settings')
        .where('id', '=', projectId)
        .executeTakeFirst(),
    );
    return settingsFrom(row?.domain_settings ?? null);
  }

  change(
    projectId: string,
    decide: (settings: DomainSettings, hosts: readonly ProjectHost[]) => DomainSettings,
  ): Promise<DomainSettings> {
    return this.#database.transaction(async (db) => {
      const project = await lockProject(this.#database, db, projectId);
      if (!project) throw projectNotFound(projectId);
      const hosts = await hostsOf(db, projectId);
      const settings = decide(settingsFrom(project.domain_settings), hosts);
      await db
        .updateTable('projects')
        .set({ domain_settings: JSON.stringify(settings) })
        .where('id', '=', projectId)
        .execute();
      await alignRoutes(this.#database, db, projectId, this.#clock.now());
      return settings;
    });
  }
}
