import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { documentedBlocks, commandsOfTheGuideTest } from '../support/documented-commands.ts';
import {
  emptyMachine,
  type EmptyMachine,
  openShell,
  type OpenShell,
} from '../support/guide/empty-machine.ts';
import { Visits } from '../support/service/visits.ts';

const blocks = documentedBlocks('docs/install-fleet.md');

/** The only changes to the page besides its ports: no waiting for fifteen seconds. */
const differences: Readonly<Record<string, string>> = {
  'scrape_interval: 15s': 'scrape_interval: 1s',
  // A possible host name.
  'domain=www.birds.example': 'domain=www.birds-guide.com',
  // No resolver answers here, which is known at once.
  'DRAIN_SECONDS=5': 'DRAIN_SECONDS=5\nDNS_SERVERS=127.0.0.1:9',
};

let machine: EmptyMachine;
let shell: OpenShell;
beforeAll(async () => {
  machine = await emptyMachine('1.1.0');
  shell = openShell(machine.home, machine.env);
});
afterAll(async () => {
  shell.end();
  await machine.remove();
});

const adapted = (text: string): string => {
  let changed = text;
  for (const [from, to] of Object.entries(differences)) changed = changed.replace(from, to);
  return changed.replaceAll(/(?<=:|PORT=|port )(\d+)\b/g, (port) =>
    String(machine.ports.get(port) ?? port),
  );
};

/** Runs a step of the guide. @returns the output of its blocks */
const follow = async (step: string): Promise<string> => {
  const own = blocks.filter(({ heading, language }) => heading === step && language === 'sh');
  expect({ step, blocks: own.length }).not.toMatchObject({ blocks: 0 });
  let printed = '';
  for (const { text } of own) printed += await shell.run(adapted(text));
  return printed;
};

const names = ['api-1', 'api-2', 'dashboard', 'worker-1', 'worker-2', 'edge-1', 'edge-2'];
const each = (what: string) => names.map((name) => `${name} ${what}\n`).join('');

test('steps 1 to 3 install the service and start seven processes', async () => {
  expect(await follow('## 1. Install the programs')).toBe('1.0.0\n');
  expect(await follow('## 2. Write the settings')).toMatch(
    /^PONG\n[^]*ACME_DIRECTORY_URL is not set/,
  );
  expect(await follow('## 3. Start the processes')).toMatch(new RegExp(`${each('is ready')}$`));
});

test('steps 4 and 5 create an account and publish a site, behind a load balancer', async () => {
  expect(await follow('## 4. Put a load balancer in front')).toMatch(/\{"status":"ok"\}$/);
  const published = await follow('## 5. Open an account, publish a site and add a domain');
  expect(published).toMatch(/^\[\][^]*<h1>Birds<\/h1>[^]*www\.birds-guide\.com/);
  expect(published).not.toMatch(/^curl: /m);
});

test('step 6 finds seven processes', async () => {
  expect(await follow('## 6. Watch it')).toContain('"7"');
});

test("the commands in the runbook and the operators' pages that no other test runs work in this fleet", async () => {
  await shell.run(`animal-store() { ./store "$@"; }
id=$(node -p 'require("./account.json").key.id')`);
  for (const command of commandsOfTheGuideTest()) await shell.run(filledIn(command));
});

const values: Readonly<Record<string, string>> = {
  './animal-store': 'animal-store',
  'http://HOST:PORT': 'http://127.0.0.1:3001',
  'domain show HOST': 'domain show $domain',
  'domain verify HOST': 'domain verify $domain',
  'redis-cli -u REDIS_URL': 'redis-cli -u redis://127.0.0.1:6379',
  DATA_DIR: 'var',
  'account ID': 'account "$account"',
  'key ID': 'key $id',
  'deploy FOLDER': 'deploy site',
  SLUG: 'birds',
  '/mnt/backup': 'other-backups',
};

/**
 * These commands end with 1: no name of this fleet is in the DNS, this event is not parked, and this
 * command gives an account no plan.
 */
const isRefused = /doctor$|retry \d+$|set-plan$/;

const filledIn = (command: string): string => {
  let filled = command;
  for (const [from, to] of Object.entries(values)) filled = filled.replaceAll(from, to);
  return adapted(isRefused.test(filled) ? `! ${filled}` : filled);
};

const run = promisify(execFile);

/** Without folders that only this test has, such as that of its Node. */
const pathOfCron = (): string => {
  const ours = (process.env['PATH'] ?? '').split(delimiter);
  const unpacked = (machine.env['PATH'] ?? '')
    .split(delimiter)
    .filter((one) => !ours.includes(one));
  return [...unpacked, '/usr/bin', '/bin'].join(delimiter);
};

test('step 7 backs up the fleet, even from cron, and loads the backup into a database', async () => {
  expect(await follow('## 7. Back up')).toMatch(/deploys: +[1-9][^]*All checks passed/);
  const [line = ''] = blocks
    .filter(({ language }) => language === 'crontab')
    .map(({ text }) => text);
  const [, command = ''] = /^(?:[\d*]+ ){5}(.+)$/m.exec(line) ?? [];
  const { home: cwd, env } = machine;
  await run('sh', ['-c', command], { cwd, env: { ...env, PATH: pathOfCron() } });
  expect(readFileSync(join(cwd, 'fleet/logs/backup'), 'utf8')).toMatch(/All checks passed/);
});

test('step 8 upgrades without any client of the API or visitor of the site noticing', async () => {
  await shell.run(
    './store account set-plan --account "$account" --plan enterprise --per-minute 1000000 --per-day 100000000',
  );
  const key = (await shell.run('echo "$key"')).trim();
  const url = `https://127.0.0.1:${String(machine.ports.get('443'))}`;
  const visits = new Visits();
  const visit = (visitors: number, [path = '', servername = '', file = '']: readonly string[]) => {
    const ca = readFileSync(join(machine.home, 'fleet', file), 'utf8');
    const headers = { Host: servername, Authorization: `Bearer ${key}` };
    visits.start({ url: `${url}${path}`, options: { servername, ca, headers } }, visitors);
  };
  visit(2, ['/v1/pets', 'api.shop.example', 'api.crt']);
  // Uses new connections, because an edge that stops closes the others and a browser then retries.
  visit(1, ['/', 'birds.sites.shop.example', 'var/local-ca.pem']);
  const printed = await follow('## 8. Upgrade without a failed request');
  await visits.stop();
  expect(printed).toMatch(/edge-1 has ended[^]*edge-1 is ready[^]*edge-2 is ready[^]*"7"/);
  expect(visits.failures).toEqual([]);
  expect(visits.answered).toBeGreaterThan(200);
});

test('every process ends cleanly at the end', async () => {
  expect(await follow('## Take it down')).toBe(each('has ended'));
  for (const name of names) {
    const log = readFileSync(join(machine.home, 'fleet/logs', name), 'utf8');
    expect(log).not.toMatch(/"level":[56]0/);
  }
});
