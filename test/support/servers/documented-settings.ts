import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { escape } from 'mysql2';
import { connectAsAdmin } from './mysql-admin.ts';
import type { TestDatabase } from './databases.ts';
import { createDatabase } from './mariadb.ts';

const page = join(import.meta.dirname, '../../..', 'docs', 'databases.md');

/**
 * Reads another server's settings from docs/databases.md, so that tests use the documented ones.
 * @param one a line of the block, or its beginning
 * @returns the block's lines, without comments
 */
export const documentedSettings = (one: string): readonly string[] => {
  const blocks = readFileSync(page, 'utf8').matchAll(/```(?:conf|ini)\n(.*?)```/gs);
  const lines = [...blocks].map(([, block = '']) =>
    block.split('\n').map((line) => line.replace(/\s+#.*$/, '').trim()),
  );
  const found = lines.find((all) => all.some((line) => line.startsWith(one)));
  if (!found) throw new Error(`no settings with "${one}" in docs/databases.md`);
  return found.filter((line) => line !== '' && !line.startsWith('['));
};

/** An empty database of a user with exactly the rights that docs/databases.md grants. */
export const databaseOfDocumentedUser = async (
  serverUrl: string,
  password = 'secret',
): Promise<TestDatabase> => {
  const database = await createDatabase(serverUrl);
  const user = `user_${randomBytes(8).toString('hex')}`;
  const own = Object.assign(new URL(database.url), { username: user });
  const [, rights] = /^grant (.+) on animal_store\.\* to animal_store;$/m.exec(
    readFileSync(page, 'utf8'),
  ) ?? [undefined, ''];
  const admin = await connectAsAdmin(serverUrl);
  await admin.order(`create user ${user} identified by ${escape(password)}`);
  await admin.order(`grant ${rights} on ${own.pathname.slice(1)}.* to ${user}`);
  admin.close();
  own.password = encodeURIComponent(password);
  return { url: own.href, drop: () => database.drop() };
};
