import { describe, expect, test } from '@jest/globals';
import {
  KyselyCustomDomains,
  KyselyDueDomains,
} from '../../../src/adapters/kysely/sites/kysely-custom-domains.ts';
import { databaseKinds } from '../../support/servers/databases.ts';
import { explainedDatabase, type ManyRows } from '../../support/servers/query-plans.ts';
import { mustNotBeUsed } from '../../support/strict-fake.ts';

/** Half of the domains are proven. */
const domains: ManyRows = {
  table: 'domains',
  columns: [
    ...['id', 'account_id', 'project_id', 'host', 'unicode_host', 'attached_host', 'proven_host'],
    ...['token', 'state', 'generation', 'added_at', 'details', 'due_at', 'claim', 'claimed_until'],
    ...['attention', 'attention_at'],
  ],
  rows: Array.from({ length: 5000 }, (_, n) => {
    const host = `w${n}.shop-${n % 50}.example`;
    return [
      ...[`dom_${n}`, `acct_${n % 20}`, `proj_${n % 100}`, host, host, host],
      ...[
        n % 2 ? host : null,
        `t-${n}`,
        n % 2 ? 'live' : 'added',
        1,
        n,
        '{}',
        n,
        ...(n < 10 ? ['claim_1', n] : [null, null]),
        ...[n % 2 ? 2 : 1, n],
      ],
    ];
  }),
};

describe.each(databaseKinds)('with thousands of domains, on %s', (kind) => {
  const explained = explainedDatabase(kind, [domains]);

  test('finding the holder of a name, or of the wildcard that covers it, takes one index search', async () => {
    const all = new KyselyCustomDomains(explained.database, mustNotBeUsed('outbox'), {
      sealer: mustNotBeUsed('sealer'),
      clock: mustNotBeUsed('clock'),
    });
    expect(await all.holdersOf('new.shop-1.example')).toEqual([]);
    expect(await explained.steps('w1.shop-1.example')).toEqual([
      expect.stringMatching(/proven_host/),
    ]);
  });

  test('a page of a list, its counts and a search use an index to read only rows of one project or account', async () => {
    const all = new KyselyCustomDomains(explained.database, mustNotBeUsed('outbox'), {
      sealer: mustNotBeUsed('sealer'),
      clock: mustNotBeUsed('clock'),
    });
    const listing = { text: '', after: undefined, limit: 51 } as const;
    await all.listPage('proj_none', { ...listing, filter: 'owner' });
    await all.listPage('proj_none', { ...listing, filter: 'live' });
    await all.countListed('proj_none');
    await all.listNamed('acct_none', 'shop', 10);
    const valueOf = (before: string) => {
      if (/state\W+$/.test(before)) return 'live';
      return /(limit|<) $/.test(before) ? 500 : 'proj_1';
    };
    const steps = (await explained.steps(valueOf)).filter((step) => step.includes('domains'));
    expect(steps).toEqual([
      expect.stringMatching(/^(?!SCAN).*\bdomains_by_attention\b/),
      expect.stringMatching(/^(?!SCAN).*\bdomains_by_(project_and_state|attention)\b/),
      expect.stringMatching(/^(?!SCAN).*\bdomains_by_(project_and_state|attention)\b/),
      expect.stringMatching(/^(?!SCAN).*\bdomains_by_account/),
    ]);
  });

  test('finding the first domain that is due reads two index ranges', async () => {
    await new KyselyDueDomains(explained.database, mustNotBeUsed('ids')).nextDueAt();
    const steps = (await explained.steps()).filter((step) => step.includes('domains'));
    expect(steps).toEqual([
      expect.stringMatching(/^(?!SCAN).*\bdomains_by_claim\b/),
      expect.stringMatching(/^(?!SCAN).*\bdomains_due\b/),
    ]);
  });
});
