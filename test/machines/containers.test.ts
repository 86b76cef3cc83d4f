import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  askNameServer,
  challengeZone,
  nameServer,
  copyCheckout,
  startPodman,
  type Podman,
  type Printed,
} from '../support/containers/podman.ts';
import {
  baseImages,
  makeBaseImages,
  makeStoreImages,
  storeImages,
} from '../support/containers/images.ts';
import { documentedCommands } from '../support/documented-commands.ts';
import { until } from '../support/until.ts';

const root = join(import.meta.dirname, '../..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly version: string;
};
const [makeImage = '', ...commands] = documentedCommands(
  'docs/containers-and-systemd.md',
  '## In containers',
);
const [runOne = '', upgradeOne = '', ...composed] = commands;
const [settings = '', up = '', firstAccount = '', upgrade = '', ...backups] = composed;
const [backUpOne = '', backUpAll = '', restoreOne = ''] = backups;

let machine: Podman;
let checkout: string;
beforeAll(async () => {
  machine = await startPodman();
  checkout = join(machine.folder, 'checkout');
  await copyCheckout(checkout);
  await makeBaseImages(machine);
  await succeeds(makeImage, { ...baseImages, BUILDAH_LAYERS: 'false' });
});
afterAll(() => machine.remove());

const sh = (script: string, env?: NodeJS.ProcessEnv): Promise<Printed> =>
  machine.shell(script, checkout, env);

const succeeds = async (script: string, env?: NodeJS.ProcessEnv): Promise<string> => {
  const { code, stdout, stderr } = await sh(script, env);
  if (code !== 0) throw new Error(`${script}\n${stdout}\n${stderr}`);
  return stdout;
};

test('the image contains Node, the service and its packages, and no build tools', async () => {
  const inside = 'podman run --rm --entrypoint /bin/sh animal-store -c';
  expect(await succeeds('podman run --rm animal-store --version')).toBe(`${version}\n`);
  expect(await succeeds(`${inside} 'command -v node npm npx || true'`)).toBe(
    '/usr/local/bin/node\n',
  );
  expect((await succeeds(`${inside} 'ls -A'`)).trim().split('\n')).toEqual([
    'animal-store',
    'bin',
    'db',
    'node_modules',
    'ops',
    'package-lock.json',
    'package.json',
    'src',
  ]);
  expect((await sh(`${inside} 'ls -d node_modules/jest node_modules/typescript'`)).stdout).toBe('');
});

test('the documented container serves, is healthy, has no privileges, and writes only to its volume', async () => {
  expect(await succeeds(runOne)).toMatch(/"status":"ok".*pets_live_/s);
  expect(await succeeds('podman inspect --format "{{.Config.StopSignal}}" animal-store')).toBe(
    '15\n',
  );
  await succeeds('podman healthcheck run animal-store');
  expect((await sh('podman exec --env PORT=1 animal-store node ops/health-check.cjs')).code).toBe(
    1,
  );
  const status = await succeeds('podman exec animal-store cat /proc/1/status');
  expect(status).toMatch(/^Uid:\t10001\t.*^CapEff:\t0{16}$.*^NoNewPrivs:\t1$/ms);
  const writes = `for folder in / /opt/animal-store /var/lib/animal-store; do
    (: >$folder/written) 2>/dev/null && echo $folder; done`;
  expect(await succeeds(`podman exec animal-store sh -c '${writes}'`)).toBe(
    '/var/lib/animal-store\n',
  );
  const log = await succeeds('podman logs animal-store');
  expect(log).not.toMatch(/open to other users|runs as root/);
  expect(await succeeds('curl --silent http://127.0.0.1:80/')).toBe('404 Not Found\n');
});

test('a container ends with exit code 0 at SIGTERM, and its replacement has the same accounts', async () => {
  const ended = `podman stop animal-store; podman inspect --format '{{.State.ExitCode}}' animal-store`;
  expect(await succeeds(ended)).toMatch(/^0$/m);
  await succeeds(upgradeOne);
  expect(await succeeds('podman exec animal-store ./animal-store account list')).toContain(
    'owner@shop.example',
  );
  expect(await succeeds(backUpOne)).toMatch(/Backed up to .*All checks passed/s);
  await succeeds('podman rm --force animal-store');
});

test('the documented restore fills an empty volume', async () => {
  await succeeds('podman volume rm animal-store');
  expect(await succeeds(restoreOne)).toMatch(/^Restored the backup of /);
  const list = restoreOne.replace('restore /var/lib/animal-store-backups', 'account list');
  expect(await succeeds(list)).toContain('owner@shop.example');
});

test('a container ends at SIGTERM even before it serves', async () => {
  await succeeds(`podman run --detach --name early --env-file animal-store.env animal-store`);
  // The program takes its time to start, and leaves a file once it runs.
  await succeeds(`until podman exec early ls /var/lib/animal-store/.cache; do :; done 2>/dev/null`);
  const ended = `podman stop --time 60 early; podman inspect --format '{{.State.ExitCode}}' early`;
  expect(await succeeds(ended)).toMatch(/^(143|0)$/m);
});

const compose = 'podman-compose --file ops/compose.yaml';
const inRole = (role: string, command: string) =>
  `${compose} exec -T ${role} ./animal-store ${command}`;

const visit = (): Promise<Printed> =>
  sh(`curl --insecure --silent --connect-to ::127.0.0.1: https://birds.sites.shop.example/`);

test('compose.yaml starts MariaDB, Redis and each role separately, and together they publish a site', async () => {
  await makeStoreImages(machine);
  await succeeds(settings);
  await succeeds(up, storeImages);
  const printed = await succeeds(firstAccount);
  const [account = ''] = /acct_\w+/.exec(printed) ?? [];
  for (const role of ['api', 'dashboard', 'worker', 'edge']) {
    await until(`${role} is healthy`, async () => {
      return (await sh(`${compose} exec -T ${role} node ops/health-check.cjs`)).code === 0;
    });
  }
  expect(await succeeds('curl --silent http://127.0.0.1:3001/dashboard/sign-in')).toContain(
    'Sign in',
  );
  await succeeds(inRole('api', `project create --account ${account} --name Birds`));
  const site = '/var/lib/animal-store/site';
  const write = `mkdir ${site} && echo Hello >${site}/index.html`;
  await succeeds(`${compose} exec -T worker sh -c '${write}'`);
  await succeeds(inRole('worker', `deploy ${site} --project birds`));
  await until('the site is served', async () => (await visit()).stdout === 'Hello\n');
});

test('compose.yaml keeps all data when its containers are replaced', async () => {
  await succeeds(upgrade, storeImages);
  await until('the site is served', async () => (await visit()).stdout === 'Hello\n');
});

const restoreElsewhere = `
password=\${DATABASE_URL#*animal_store:}
password=\${password%%@*}
sql="create database animal_store_other character set utf8mb4 collate utf8mb4_bin"
mariadb --no-defaults --host=mariadb --user=animal_store --password=$password --execute "$sql"
export DATABASE_URL=\${DATABASE_URL}_other DATA_DIR=/tmp/other
./animal-store restore /var/lib/animal-store-backups
./animal-store project deploys --project birds`;

test('a worker backs up MariaDB and the site, and the backup can be restored', async () => {
  // This version of compose does not pass on exit codes.
  const inWorker = (script: string) =>
    succeeds(`${compose} exec -T worker sh -euc '${script}' 2>&1`);
  await until('MariaDB is back', async () =>
    (await inWorker('./animal-store account list')).includes('owner@shop.example'),
  );
  const printed = await succeeds(`{\n${backUpAll}} 2>&1`);
  expect(printed).toMatch(/deploys: +1, 1 of them new.*was not tried.*All checks passed/s);
  expect(await inWorker(restoreElsewhere)).toMatch(/Restored the backup.*served/s);
});

test('compose.dns.yaml adds a name server on port 53, for the zone of DNS challenges', async () => {
  const added = `ACME_DNS_ZONE=${challengeZone}\nDNS_ADDRESS=127.0.0.1\n`;
  await succeeds(`printf '${added}' >>ops/.env`);
  await succeeds(`${compose} --file ops/compose.dns.yaml up --detach`, storeImages);
  const ask = askNameServer(process.execPath);
  await until('it answers', async () => (await sh(ask)).stdout === nameServer);
});
