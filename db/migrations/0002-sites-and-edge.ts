import { sql, type Kysely } from 'kysely';
import { addColumnOnce, columnsFor, createIndexOnce } from '../columns.ts';

export const up = async (db: Kysely<unknown>): Promise<void> => {
  const { id, text, longText, integer, finish } = columnsFor(db);
  const { schema } = db;

  await addColumnOnce(db, 'projects', 'served_deploy_id', id);

  await finish(
    schema
      .createTable('deploys')
      .ifNotExists()
      .addColumn('id', id, (c) => c.primaryKey().notNull())
      .addColumn('project_id', id, (c) => c.notNull())
      .addColumn('number', integer, (c) => c.notNull())
      .addColumn('state', text(16), (c) => c.notNull())
      .addColumn('started_at', integer, (c) => c.notNull())
      .addColumn('finished_at', integer)
      .addColumn('files', integer)
      .addColumn('bytes', integer)
      .addColumn('problem', text(64))
      .addColumn('explanation', longText)
      .addUniqueConstraint('deploys_number', ['project_id', 'number'])
      .addForeignKeyConstraint('deploys_project', ['project_id'], 'projects', ['id']),
  ).execute();
  await createIndexOnce(db, 'deploys_by_state', 'deploys', ['state', 'started_at']);

  // No foreign key: it would lock the project after the revision, and others lock them the other way round.
  await finish(
    schema
      .createTable('routes')
      .ifNotExists()
      .addColumn('name', text(253), (c) => c.primaryKey().notNull())
      .addColumn('project_id', id, (c) => c.notNull())
      .addColumn('deploy_id', id)
      .addColumn('revision', integer, (c) => c.notNull().unique())
      .addColumn('removed_at', integer),
  ).execute();
  await createIndexOnce(db, 'routes_by_removal', 'routes', ['removed_at']);

  await finish(
    schema
      .createTable('certificates')
      .ifNotExists()
      .addColumn('host', text(253), (c) => c.primaryKey().notNull())
      .addColumn('chain', longText)
      .addColumn('private_key', longText)
      .addColumn('not_before', integer)
      .addColumn('not_after', integer)
      .addColumn('revision', integer, (c) => c.notNull().unique())
      .addColumn('removed_at', integer),
  ).execute();
  await createIndexOnce(db, 'certificates_by_removal', 'certificates', ['removed_at']);

  await finish(
    schema
      .createTable('edge_revision')
      .ifNotExists()
      .addColumn('id', integer, (c) => c.primaryKey().notNull())
      .addColumn('revision', integer, (c) => c.notNull()),
  ).execute();
  const { rows } = await sql`select id from edge_revision`.execute(db);
  if (rows.length > 0) return;
  await sql`insert into edge_revision (id, revision) values (1, 0)`.execute(db);
};
