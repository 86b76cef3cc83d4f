import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  askNameServer,
  challengeZone,
  nameServer,
  copyCheckout,
  startPodman,
  type Podman,
} from '../support/containers/podman.ts';
import { startDebianMachine, type DebianMachine } from '../support/containers/debian-machine.ts';
import { documentedCommands } from '../support/documented-commands.ts';
import { makeStoreImages, storeImages } from '../support/containers/images.ts';
import { until } from '../support/until.ts';

const root = join(import.meta.dirname, '../..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly version: string;
};
const next = '99.0.0';
/** @param release replaces the example on the page */
const commands = (page: string, heading: string, release: string) =>
  documentedCommands(page, heading).map((block) =>
    block.replace(/^version=\S+/, `version=${release}`),
  );
const [install = '', settings = '', start = '', account = '', backUp = ''] = commands(
  'docs/containers-and-systemd.md',
  '## With systemd',
  version,
);
const [installNext = '', migrate = '', switchOver = ''] = commands(
  'docs/upgrades.md',
  '## Upgrading',
  next,
);

const roles = ['api', 'dashboard', 'worker', 'edge'];
const units = roles.map((role) => `animal-store@${role}.service`);

const makeNext = `cp --archive /opt/animal-store-${version} /opt/animal-store-${next}
sed --in-place 's/"version": "[^"]*"/"version": "${next}"/' \
  /opt/animal-store-${next}/lib/node_modules/animal-store/package.json`;

let podman: Podman;
let machine: DebianMachine;
beforeAll(async () => {
  podman = await startPodman();
  const checkout = join(podman.folder, 'checkout');
  await copyCheckout(checkout);
  await promisify(execFile)('make', ['package'], { cwd: checkout });
  const file = join(checkout, `animal-store-${version}.tgz`);
  machine = await startDebianMachine(podman, { file, script: `${install}\n${makeNext}` });
  await startStores();
});
afterAll(() => podman.remove());

const startStores = async (): Promise<void> => {
  await makeStoreImages(podman);
  const named = { DATABASE: 'animal_store', USER: 'animal_store', PASSWORD: 'PASSWORD' };
  const env = Object.entries(named).flatMap(([name, value]) => [
    '--env',
    `MARIADB_${name}=${value}`,
  ]);
  const run = ['run', '--detach', '--network', 'host'];
  await podman.podman(...run, ...env, storeImages.MARIADB_IMAGE);
  await podman.podman(...run, storeImages.REDIS_IMAGE, 'redis-server');
};

const succeeds = async (script: string): Promise<string> => {
  const { code, stdout, stderr } = await machine.bash(script);
  if (code === 0) return stdout;
  const { stdout: log } = await machine.bash(`journalctl --no-pager --lines 60 || true`);
  throw new Error(`${script}\n${stdout}\n${stderr}\n${log}`);
};

const processOf = async (unit: string): Promise<string> =>
  (await succeeds(`systemctl show --property MainPID --value ${unit}`)).trim();

test('the documented commands install and start every role, without privileges', async () => {
  await succeeds(`umask 022\n${settings}`);
  expect(await succeeds(start)).toMatch(/^(\{"status":"ok".*?\}){4}$/);
  expect(await succeeds(account)).toMatch(/pets_live_/);
  expect(await succeeds('curl --silent http://127.0.0.1:80/')).toBe('404 Not Found\n');
  for (const [at, unit] of units.entries()) {
    const status = await succeeds(`cat /proc/${await processOf(unit)}/status`);
    const rights = roles[at] === 'edge' ? '400' : '0';
    expect(status).toMatch(new RegExp(`^CapEff:\\t0*${rights}$`, 'm'));
    expect(status).toMatch(/^NoNewPrivs:\t1$.*^Seccomp:\t2$/ms);
    expect(status).not.toMatch(/^Uid:\t0/m);
  }
});

test('the unit of the role dns answers for its zone on port 53, and its only privilege is that port', async () => {
  const unit = 'animal-store@dns.service';
  await succeeds(`echo ACME_DNS_ZONE=${challengeZone} >>/etc/animal-store/settings`);
  await succeeds(`systemctl start ${unit}`);
  const ask = askNameServer('node');
  await until('it answers', async () => (await machine.bash(ask)).stdout === nameServer);
  const status = await succeeds(`cat /proc/${await processOf(unit)}/status`);
  expect(status).toMatch(/^CapEff:\t0*400$.*^NoNewPrivs:\t1$/ms);
  expect(status).not.toMatch(/^Uid:\t0/m);
  await succeeds(`systemctl stop ${unit}`);
  expect(await succeeds(`systemctl show --property Result --value ${unit}`)).toBe('success\n');
});

test('reload replaces the processes of a role without stopping its unit', async () => {
  const parent = await processOf('animal-store@edge');
  const children = `ps --ppid ${parent} --format pid=`;
  const before = (await succeeds(children)).trim().split(/\s+/);
  await succeeds('systemctl reload animal-store@edge');
  await succeeds(`while ps --pid ${before.join(',')} >/dev/null; do :; done`);
  expect((await succeeds(children)).trim().split(/\s+/)).toHaveLength(2);
  expect(await processOf('animal-store@edge')).toBe(parent);
});

test('the documented units back up, check the backup, and are scheduled for every night', async () => {
  await succeeds(backUp);
  const printed = await succeeds('journalctl --no-pager --output cat --unit animal-store-backup');
  expect(printed).toMatch(/Backed up to \/var\/lib\/animal-store-backups.*All checks passed/s);
  const manifest = '/var/lib/animal-store-backups/manifest.json';
  expect(await succeeds(`stat --format '%U %a' ${manifest}`)).toBe('animal-store 600\n');
  expect(await succeeds('systemctl list-timers --no-pager animal-store-backup.timer')).toContain(
    'animal-store-backup.service',
  );
});

test('the documented upgrade migrates and restarts every role with the new release, and every process ends cleanly', async () => {
  expect(installNext.replace(next, version)).toBe(
    install.split('\n').slice(0, 2).join('\n') + '\n',
  );
  await succeeds(`version=${next}\n${migrate}`);
  expect(await succeeds(`version=${next}\n${switchOver}`)).toMatch(/^(\{"status":"ok".*?\}){4}$/);
  const serving = `journalctl --no-pager --output cat | grep '"version":"${next}"'`;
  expect((await succeeds(serving)).trim().split('\n').length).toBeGreaterThanOrEqual(4);
  expect(await succeeds('/opt/animal-store/bin/animal-store --version')).toBe(`${next}\n`);
  await succeeds(`systemctl stop 'animal-store@*'`);
  const results = `systemctl show --property Result,ExecMainStatus ${units.join(' ')}`;
  const lines = (await succeeds(results)).split('\n').filter((line) => line !== '');
  expect([...new Set(lines)].sort()).toEqual(['ExecMainStatus=0', 'Result=success']);
});
