import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { measures } from '../../src/adapters/http/metrics/measures.ts';
import { promtool, alertRules, dashboardQueries } from '../support/service/monitoring-files.ts';
import {
  cutWay,
  startMonitoredFleet,
  type MonitoredFleet,
} from '../support/service/monitored-fleet.ts';
import { processesOf } from '../support/service/several-processes.ts';
import { until } from '../support/until.ts';
import { caPlaces } from '../lab/authority/gate-caa.ts';

const host = 'www.zoo.test';

let fleet: MonitoredFleet;
beforeAll(async () => {
  fleet = await startMonitoredFleet();
  await madeBackup();
  const { records } = await fleet.shop.add(host);
  fleet.lab.zone.create(records[0]);
  await verified(host);
  await fleet.lab.waitUntilServed(host);
});
afterAll(() => fleet.close());

/** Stored like by `backup` and `backup check`. */
const madeBackup = (daysAgo = 0): Promise<void> => {
  const moment = Date.now() - daysAgo * 86_400_000;
  return fleet.admin.order(
    `replace into backup_times (step, moment) values ('made', ${moment}), ('checked', ${moment})`,
  );
};

/** Refused for some seconds after a scheduled check. */
const isChecked = async (name: string): Promise<boolean> =>
  (await fleet.shop.tell('verify', name)).code === 0;
const verified = (name: string): Promise<boolean> =>
  until(`${name} is verified`, async () => {
    const state = (await fleet.lab.facts.states(name)).at(-1);
    return state !== 'added' || (await isChecked(name));
  });

const isFound = async (expression: string): Promise<boolean> => {
  const found = await fleet.prometheus.query(expression);
  return found.some(({ value: [, value] }) => value !== 'NaN');
};

/** Waits until the expression returns a value, while there are requests and visits. */
const findsSomething = (expression: string): Promise<boolean> =>
  until(expression, async () => {
    await Promise.all([fleet.ask(3), fleet.visit()]);
    return isFound(expression);
  });

describe('the metrics of a fleet under load', () => {
  let pages: readonly string[];
  beforeAll(async () => {
    await findsSomething('custom_domains{state="live",health="healthy"} == 1');
    const read = async (origin: string) => (await fetch(`${origin}/metrics`)).text();
    pages = await Promise.all(Object.values(fleet.services).map(({ origin }) => read(origin)));
  });

  test('follow the rules of Prometheus', async () => {
    for (const page of pages) {
      expect(await promtool(['check', 'metrics'], page)).toEqual({ code: 0, output: '' });
    }
  });

  test('are exactly those in the table', () => {
    const lines = pages.flatMap((page) => [...page.matchAll(/^# TYPE (\w+) (\w+)$/gm)]);
    const types = new Map(lines.map(([, name = '', type = '']) => [name, type]));
    for (const name of types.keys()) if (/^(?:process|nodejs)_/.test(name)) types.delete(name);
    const known = Object.entries(measures).map(([name, { type }]) => [name, type] as const);
    expect([...types].sort()).toEqual(known.sort());
  });

  test.each(dashboardQueries())('appear on the dashboard: $title ($expr)', async ({ expr }) => {
    await findsSomething(expr.replaceAll('$__rate_interval', '10s'));
  });
});

/** The condition of an alert, which must last before it fires. */
const conditionOf = (alert: string): string =>
  alertRules().find((rule) => rule.alert === alert)?.expr ?? '';

const isCaused = (alert: string, expression = conditionOf(alert)): Promise<boolean> =>
  until(`${alert} is caused`, () => isFound(expression));
const isOver = (alert: string): Promise<boolean> =>
  until(`${alert} is over`, async () => !(await isFound(conditionOf(alert))));

const spendBudget = ({ admin, lab }: MonitoredFleet): Promise<void> => {
  const { host: authority } = new URL(lab.gate.directoryUrl);
  const orders = Array.from({ length: 220 }, (_, at) => {
    return `('order', 'o${at}', '${authority}', 'acct_x', 'x.test', 'x.test', 0, ${Date.now()})`;
  });
  const columns =
    'kind, order_key, authority, account_id, host, registrable_domain, is_manual, occurred_at';
  return admin.order(`insert into authority_ledger (${columns}) values ${orders.join()}`);
};

describe('an alert fires', () => {
  test('for an authority that fails', async () => {
    const { lab, shop } = fleet;
    lab.zone.remove(host);
    await until('it is checked', () => isChecked(host));
    lab.gate.setFaults({ match: caPlaces.newOrder, status: 500 });
    const { records } = await shop.add('www.other.test');
    lab.zone.create(records[0]);
    await verified('www.other.test');
    await isCaused('AuthorityFailing');
    // Counted by a worker later, while the next tests run.
    await spendBudget(fleet);
    await madeBackup(2);
    await fleet.admin.order(
      `update certificates set not_before = not_before - 8640000000, not_after = ${Date.now() + 86_000_000}`,
    );
    await fleet.admin.order('update edge_revision set revision = revision + 1');
    await fleet.admin.order(
      "update certificates set revision = (select revision from edge_revision) where host like '*.%'",
    );
  });

  test('for a platform certificate that is near its end', async () => {
    await isCaused('PlatformCertificateEnding');
  });

  test('for a parked delivery, and for one that waits too long', async () => {
    const { admin } = fleet;
    const columns = 'event_id, subscriber, attempts, due_at, parked, claim, problem';
    for (const parked of [1, 0]) {
      const values = `id, 'certificates', 9, ${Date.now() + 3_600_000}, ${parked}, null, 'tried'`;
      await admin.order(
        `insert into deliveries (${columns}) select ${values} from events order by occurred_at limit 1`,
      );
    }
    await admin.order(`update events set occurred_at = occurred_at - 3600000`);
    await isCaused('DeliveriesParked');
    await isCaused('DeliveriesLate');
    await admin.order(`delete from deliveries where problem = 'tried'`);
    await isOver('DeliveriesParked');
    await isOver('DeliveriesLate');
  });

  test('for an object store that does not answer', async () => {
    await fleet.store.goAway();
    await until('the store is missed', async () => {
      await fleet.visit('other');
      return isFound(conditionOf('ObjectStoreAway'));
    });
    await fleet.store.comeBack();
    await until('the store is found', async () => {
      await fleet.visit('other');
      return !(await isFound(conditionOf('ObjectStoreAway')));
    });
  });

  test('for Redis that does not answer', async () => {
    const mend = cutWay(fleet.ways.redis, process.env['TEST_REDIS_URL'] ?? '');
    await isCaused('RedisAway');
    mend();
    await isOver('RedisAway');
  });

  test('for a slow database', async () => {
    const { apiDatabase } = fleet.ways;
    apiDatabase.slowDown(300);
    await until('it is noticed', async () => {
      const [, slow, waiting] = await Promise.all([
        fleet.ask(60),
        isFound(conditionOf('AnswersSlow')),
        isFound('max_over_time(database_pool_waiting[1m]) > 0'),
      ]);
      return slow && waiting;
    });
    apiDatabase.slowDown(0);
    await isOver('DatabasePoolExhausted');
  });

  test('for an unavailable database', async () => {
    const { apiDatabase, workerDatabase } = fleet.ways;
    const url = fleet.databaseUrl;
    const mends = [apiDatabase, workerDatabase].map((way) => cutWay(way, url));
    expect(await fleet.ask(20)).toContain(503);
    for (const alert of ['DatabaseAway', 'ErrorRateHigh']) await isCaused(alert);
    await isCaused('JobFailing');
    // The same condition over seconds instead of minutes.
    await isCaused('JobLate', conditionOf('JobLate').replaceAll('+ 300', '+ 3'));
    for (const mend of mends) mend();
    await isOver('DatabaseAway');
  });

  test('for an edge that does not receive a new site', async () => {
    const mend = cutWay(fleet.ways.otherDatabase, fleet.databaseUrl);
    await fleet.lab.openShop('late');
    // The same condition over seconds instead of a minute.
    await isCaused('EdgesDiffer', conditionOf('EdgesDiffer').replaceAll('[1m]', '[5s]'));
    mend();
    await isOver('EdgesDiffer');
  });

  test('for a name server that cannot look up its answers', async () => {
    const mend = cutWay(fleet.ways.otherDatabase, fleet.databaseUrl);
    await until('it is noticed', async () => {
      await fleet.askForChallenge();
      // The same condition over seconds instead of minutes.
      return isFound(conditionOf('NameServerFailing').replaceAll('[5m]', '[10s]'));
    });
    mend();
  });

  test('for domains, certificates, a budget and the age of a backup, which a worker reads', async () => {
    const counted = ['DomainsUnhealthy', 'RenewalsFailing', 'CertificatesExpiring'];
    for (const alert of [...counted, 'AuthorityBudgetLow', 'BackupLate']) await isCaused(alert);
  });

  test('for processes that hang, die or are missing', async () => {
    const { api, worker, edge } = fleet.services;
    const stoodAt = performance.now();
    edge.signal('SIGSTOP');
    await until('it stood still', () => performance.now() - stoodAt > 400);
    edge.signal('SIGCONT');
    await isCaused('EventLoopBlocked', conditionOf('EventLoopBlocked').replace('> 10', '> 0'));
    const [child] = processesOf(api);
    process.kill(child!.pid, 'SIGKILL');
    await isCaused('ProcessesDying');
    await worker.end('SIGKILL');
    for (const alert of ['ServiceDown', 'WorkersAway']) await isCaused(alert);
  });
});
