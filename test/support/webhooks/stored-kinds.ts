import { openDatabase } from '../servers/databases.ts';

/** What the row of a webhook has, also what this release does not know. */
export const storedKinds = async (url: string, id: string): Promise<unknown> => {
  const database = openDatabase(url);
  const webhooks = database.root.selectFrom('webhooks').select('kinds').where('id', '=', id);
  const { kinds } = await webhooks.executeTakeFirstOrThrow();
  await database.close();
  return JSON.parse(kinds);
};
