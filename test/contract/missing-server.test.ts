import { expect, test } from '@jest/globals';
import { missing } from '../support/servers/debian-server.ts';

test.each([
  ['mariadbd', ['mariadb-server-core'], 'mariadb-server-core, or set TEST_MYSQL_URL to'],
  ['redis-server', ['redis-server'], 'redis-server, or set TEST_REDIS_URL to'],
  ['pebble', ['pebble'], 'pebble, or put pebble into PATH: https://github.com/letsencrypt/pebble'],
  ['wrk', ['libone1|libone2'], 'libone1, or put wrk into PATH.'],
])('where %s is missing, the advice is about it only', (name, packages, advice) => {
  expect(missing(name, packages)).toContain(`${name} is missing`);
  expect(missing(name, packages)).toContain(`Install the package ${advice}`);
});
