import type { Clock } from '../../../kernel/clock.ts';
import type { Decision } from '../../../kernel/decision.ts';
import {
  noDomainSettings,
  type DomainSettings,
} from '../../../domains/domain/redirects/settings.ts';
import { projectNotFound } from '../../../sites/domain/sites-error.ts';
import type { DomainsEvent } from '../../../domains/domain/domains-event.ts';
import type { ProjectSettings, SettingsFacts } from '../../../domains/ports.ts';
import type { Database, Queries } from '../database.ts';
import { AggregateStore } from '../aggregate-store.ts';
import type { KyselyOutbox } from '../kysely-outbox.ts';
import { alignRoutes, hostsOf, settingsFrom, storeSettings } from './project-routes.ts';

export class KyselyProjectSettings extends AggregateStore implements ProjectSettings {
  readonly #clock: Clock;

  constructor(database: Database, outbox: KyselyOutbox, clock: Clock) {
    super(database, outbox);
    this.#clock = clock;
  }

  async read(projectId: string): Promise<DomainSettings> {
    const row = await this.db
      .selectFrom('projects')
      .select('domain_settings')
      .where('id', '=', projectId)
      .executeTakeFirst();
    return row ? settingsFrom(row) : structuredClone(noDomainSettings);
  }

  async change(
    projectId: string,
    decide: (
      settings: DomainSettings,
      facts: SettingsFacts,
    ) => Decision<DomainSettings, DomainsEvent>,
  ): Promise<DomainSettings> {
    const lock = async (db: Queries) => {
      const project = await this.database.lock('projects', projectId);
      if (!project) throw projectNotFound(projectId);
      const facts = { accountId: project.account_id, hosts: await hostsOf(db, projectId) };
      return { settings: settingsFrom(project), facts };
    };
    const { state } = await this.changing(
      lock,
      ({ settings, facts }) => decide(settings, facts),
      async ({ state }, db) => {
        await storeSettings(db, projectId, state);
        await alignRoutes(this.database, projectId, this.#clock.now());
      },
    );
    return state;
  }
}
