import bearerAuth from '@fastify/bearer-auth';
import rateLimit from '@fastify/rate-limit';
import SqliteDatabase from 'better-sqlite3';
import { fastify } from 'fastify';
import { Kysely, SqliteDialect } from 'kysely';

/**
 * The list of animals as a typical Fastify application: Fastify, its plugins for keys and limits, and Kysely. Only
 * `make bench` installs the packages of this folder, so this file is not type-checked.
 */
const [port = '', url = '', accountId = '', secret = ''] = process.argv.slice(2);

const database = new SqliteDatabase(url.slice('sqlite:'.length), { readonly: true });
const db = new Kysely({ dialect: new SqliteDialect({ database }) });

const pet = {
  type: 'object',
  properties: {
    id: { type: 'integer' },
    name: { type: 'string' },
    categoryId: { type: 'integer' },
    status: { type: 'string' },
  },
};
const schema = {
  querystring: {
    type: 'object',
    properties: { limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 } },
  },
  response: { 200: { type: 'array', items: pet } },
};

const server = fastify();
await server.register(bearerAuth, { keys: new Set([secret]) });
await server.register(rateLimit, {
  max: 100_000_000,
  timeWindow: '1 minute',
  keyGenerator: (request) => request.headers.authorization ?? request.ip,
});
server.get('/v1/pets', { schema }, async (request) => {
  const { limit } = request.query;
  const rows = await db
    .selectFrom('pets')
    .select(['id', 'name', 'category_id', 'status'])
    .where('account_id', '=', accountId)
    .where('id', '>', 0)
    .orderBy('id')
    .limit(limit + 1)
    .execute();
  return rows
    .slice(0, limit)
    .map(({ id, name, category_id, status }) => ({ id, name, categoryId: category_id, status }));
});
await server.listen({ port: Number(port), host: '127.0.0.1' });
