import { describe, expect, test } from '@jest/globals';
import { DumpFacts } from '../../../src/adapters/kysely/copies/mysql-copy.ts';

const names = [
  `('1','plain')`,
  String.raw`('2','it\'s ),(\'x\',\'y\',1,\'succeeded\'')`,
  String.raw`('3','ends with \\')`,
  `('4','ünïcode ☃ ; ')`,
];
const deploys = [
  `('dep_1','proj_1',1,'operator',NULL,'succeeded',1,2,3,4,NULL,NULL)`,
  String.raw`('dep_2','proj_1',2,'key:key_1','(a) it\'s, \'b\'','failed',1,2,NULL,NULL,'no_index','write (\'dep_9\',\'p\',1,\'succeeded\')')`,
  `('dep_3','proj_1',3,'operator',NULL,'uploading',1,NULL,NULL,NULL,NULL,NULL)`,
  `('dep_4','proj_2',1,'operator','succeeded','succeeded',1,2,3,4,NULL,NULL)`,
];
const columnsOfDeploys = 'id project_id number made_by message state started_at finished_at files';
const migrations = [
  `('0001-foundation','2026-11-22T00:00:00.000Z')`,
  `('0002-later','2026-11-23')`,
];

const insertions = {
  'a line for each row': (table: string, rows: readonly string[]) =>
    `INSERT INTO \`${table}\` VALUES\n${rows.join(',\n')};\n`,
  'all rows in one line': (table: string, rows: readonly string[]) =>
    `INSERT INTO \`${table}\` VALUES ${rows.join(',')};\n`,
  'several statements': (table: string, rows: readonly string[]) =>
    rows.map((row) => `INSERT INTO \`${table}\` VALUES ${row};\n`).join(''),
};

const columnLines = (table: string) =>
  (table === 'deploys' ? columnsOfDeploys : 'id')
    .split(' ')
    .map((column) => `  \`${column}\` varchar(40) NOT NULL DEFAULT '(',\n`)
    .join('');

const tables = { accounts: names, deploys, pets: [], kysely_migration: migrations };
const dumpOf = (insert: (typeof insertions)['several statements']): string =>
  [
    '/*!40101 SET NAMES utf8mb4 */;\n',
    ...Object.entries(tables).map(
      ([table, rows]) =>
        `CREATE TABLE \`${table}\` (\n${columnLines(table)}  KEY (\`id\`)\n);\n` +
        (rows.length === 0 ? '' : insert(table, rows)) +
        `/*!40000 ALTER TABLE \`${table}\` ENABLE KEYS */;\n`,
    ),
    '-- Dump completed\n',
  ].join('');

const factsOf = (dump: string, pieceBytes: number) => {
  const facts = new DumpFacts();
  const bytes = Buffer.from(dump);
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    facts.read(bytes.subarray(at, at + pieceBytes));
  }
  return facts.facts();
};

describe.each(Object.entries(insertions))('a dump with %s', (_, insert) => {
  test.each([1, 7, 100_000])('can be read in pieces of %i bytes', (pieceBytes) => {
    expect(factsOf(dumpOf(insert), pieceBytes)).toEqual({
      rows: { accounts: 4, deploys: 4, pets: 0, kysely_migration: 2 },
      deploys: ['dep_1', 'dep_4'],
      migrations: ['0001-foundation', '0002-later'],
    });
  });

  test('is refused when it is cut short or when a deploy cannot be read', () => {
    const dump = dumpOf(insert);
    expect(() => factsOf(dump.slice(0, -10), 100)).toThrow('the dump ends too early');
    const other = dump.replace('`state`', '`status`');
    expect(() => factsOf(other, 100)).toThrow('the rows of deploys in the dump cannot be read');
  });
});
