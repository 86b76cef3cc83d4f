import { expect, test } from '@jest/globals';
import { KyselyUsageLog } from '../../../src/adapters/kysely/access/kysely-usage-log.ts';
import { explainedDatabase } from '../../support/servers/query-plans.ts';

const explained = explainedDatabase('sqlite', []);

test('the sums of the usage page read an index in the order of their groups', async () => {
  const usage = new KyselyUsageLog(explained.database);
  await usage.sum({ accountId: 'acct_1', keyId: undefined }, new Date(0), 'day');
  await usage.callsTo(['getPet'], 'acct_1', new Date(0));
  expect(await explained.steps()).toEqual([
    'SEARCH usage_days USING INDEX sqlite_autoindex_usage_days_1 (account_id=? AND day>?)',
    'SEARCH usage_hours USING COVERING INDEX usage_hours_by_operation (account_id=? AND operation=? AND key_id=? AND hour>?)',
    'LIST SUBQUERY 1',
    'SEARCH api_keys USING INDEX api_keys_by_account (account_id=?)',
    // Sorts one row for each key.
    'USE TEMP B-TREE FOR ORDER BY',
  ]);
});
