import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import PQueue from 'p-queue';
import { uploadSlots } from '../../src/adapters/uploads/slots.ts';
import { planAllowances } from '../../src/sites/domain/project.ts';
import {
  deepFolders,
  largeFile,
  manySlashes,
  halfClosedUpload,
  sendAhead,
  slowUpload,
  openStalledSessions,
} from '../attacks/attackers.ts';
import { underAttack } from '../attacks/attack.ts';
import {
  addDomain,
  domainsPath,
  openGround,
  siteHost,
  startProject,
  upload,
  uploadHeaders,
  uploadInTurn,
  uploadPath,
  type Customer,
  type Ground,
} from '../attacks/ground.ts';
import { DashboardStream } from '../support/dashboard/stream.ts';
import { DashboardVisitor } from '../support/dashboard/visitor.ts';
import { until } from '../support/until.ts';
import { tgzOf } from '../support/sites/archive-bytes.ts';

let ground: Ground;
let other: Customer;
let site: Buffer;
beforeAll(async () => {
  ground = await openGround();
  other = await ground.openAccount('other');
  await startProject(ground.attacker.visitor, 'Birds');
  await startProject(other.visitor, 'Cats');
  site = await tgzOf({ name: 'index.html', content: '<h1>Cats</h1>' });
  // Only a published project can have domains. The large file does not fit into the memory of an edge.
  expect((await upload(attacker(), 'birds', await largeFile())).status).toBe(303);
  expect((await upload(other.visitor, 'cats', site)).status).toBe(303);
});
afterAll(() => ground.close());

const attacker = () => ground.attacker.visitor;

test('stalled HTTP/2 connections cost little, and other visitors are still served', async () => {
  const place = { port: ground.ports['secure edge'], host: siteHost('birds'), path: '/large.bin' };
  await until('the site is served', async () => {
    const [session] = await openStalledSessions(place, 1, 1);
    session?.destroy();
    return session !== undefined;
  });
  const { before, during } = await underAttack(
    ground.service,
    async () => {
      const sessions = await openStalledSessions(place, 198, 100);
      // Long enough for every stream to be answered as far as possible.
      await delay(2_000);
      return sessions;
    },
    (sessions) => sessions.forEach((session) => session.destroy()),
  );
  expect(during.descriptors - before.descriptors).toBeLessThan(1_000);
  expect(during.residentMiB - before.residentMiB).toBeLessThan(700);
});

test('a small archive with a path of 200 000 slashes does not delay others', async () => {
  const archive = await manySlashes();
  const { result } = await underAttack(ground.service, () =>
    Promise.all([1, 2].map(() => upload(attacker(), 'birds', archive))),
  );
  expect(archive.length).toBeLessThan(1000);
  for (const { status } of result) expect(status).toBeLessThan(500);
});

test('an archive of thousands of files hundreds of folders deep does not delay others', async () => {
  const archive = await deepFolders();
  const { result } = await underAttack(ground.service, () =>
    uploadInTurn(attacker(), 'birds', archive),
  );
  expect(result.status).toBeLessThan(500);
});

test('senders that half-close at the end of an upload no longer count', async () => {
  const { result } = await underAttack(
    ground.service,
    () => Promise.all(Array.from({ length: 8 }, () => halfClosedUpload(attacker(), 'birds', site))),
    async () => {
      expect((await uploadInTurn(other.visitor, 'cats', site)).status).toBe(303);
      expect((await uploadInTurn(attacker(), 'birds', site)).status).toBe(303);
    },
  );
  expect(result).toHaveLength(8);
});

test('senders of single bytes occupy only the places of their own account', async () => {
  const senders = await Promise.all(
    Array.from({ length: 20 }, () => slowUpload(attacker(), 'birds')),
  );
  const holding = () => senders.filter(({ isAnswered }) => !isAnswered()).length;
  try {
    await underAttack(ground.service, async () => {
      await until('the others are refused', () => holding() <= uploadSlots.receiving.ofOne);
      expect((await uploadInTurn(other.visitor, 'cats', site)).status).toBe(303);
      expect(holding()).toBe(uploadSlots.receiving.ofOne);
    });
  } finally {
    for (const { stop } of senders) stop();
  }
  expect((await uploadInTurn(attacker(), 'birds', site)).status).toBe(303);
});

test('uploads of empty parts only are refused at once', async () => {
  const parts = Buffer.from(`--x\r\n${'\r\n--x\r\n\r\n'.repeat(400_000)}`);
  const type = { 'Content-Type': 'multipart/form-data; boundary=x' };
  const send = () =>
    attacker().send(uploadPath('birds'), {
      method: 'POST',
      body: parts,
      headers: { ...uploadHeaders, ...type },
    });
  const { result } = await underAttack(ground.service, () => Promise.all([send(), send()]));
  for (const { status } of result) expect([422, 503]).toContain(status);
});

test('thousands of requests in one packet do not delay others', async () => {
  const { origin } = ground.service;
  await underAttack(ground.service, async () => {
    for (const path of ['/v1/pets', '/dashboard/sign-in', '/healthz', '/nowhere']) {
      await Promise.all([1, 2].map(() => sendAhead(origin, path, 20_000)));
    }
  });
});

test('configurations of tags only are refused at once, however long they are', async () => {
  const path = '/dashboard/projects/birds/settings/configuration';
  const send = (bytes: number) => attacker().post(path, { settings: '!a '.repeat(bytes / 3) });
  const { result } = await underAttack(ground.service, () =>
    Promise.all([128 * 1024, 15 * 1024].map(send)),
  );
  expect(result.map(({ status }) => status)).toEqual([413, 422]);
});

/** Answers every query about a name with these records, over TCP. */
const lookUpDuring = async (host: string, zone: Parameters<Ground['dns']['setZone']>[0]) => {
  const known = await addDomain(attacker(), 'birds', host);
  expect(known.status).toBe(303);
  ground.dns.setZone(zone);
  return attacker().post(`${domainsPath('birds')}/${host}/verify`);
};

test('a CAA value of 60 000 blanks does not delay others', async () => {
  const host = 'www.blanks.test';
  const value = `x${' '.repeat(60_000)}y`;
  await underAttack(ground.service, async () => {
    const zone = { [host]: { CAA: [{ tag: 'issue', value }], TXT: [value.slice(0, 250)] } };
    const { status } = await lookUpDuring(host, zone);
    expect(status).toBeLessThan(500);
  });
});

test('DNS answers of the largest size, watched on 48 live pages, do not delay others', async () => {
  const host = 'www.giant.test';
  const records = {
    TXT: Array.from({ length: 200 }, (_, at) => `${String(at)}${'x'.repeat(250)}`),
    A: Array.from({ length: 1_000 }, (_, at) => `10.0.${String(at >> 8)}.${String(at & 255)}`),
    CAA: Array.from({ length: 200 }, () => ({ tag: 'issue', value: 'y'.repeat(250) })),
  };
  const page = `${domainsPath('birds')}/${host}`;
  const { result } = await underAttack(
    ground.service,
    async () => {
      await lookUpDuring(host, {
        [host]: records,
        [`_animal-store-challenge.${host}`]: records,
        'giant.test': records,
      });
      const streams = await Promise.all(
        Array.from({ length: 48 }, () => DashboardStream.open(attacker(), page)),
      );
      for (let round = 0; round < 5; round++) {
        await attacker().post(`${page}/verify`);
        await startProject(attacker(), `Round ${String(round)}`);
        await attacker().get(page);
      }
      return streams;
    },
    (streams) => streams.forEach((stream) => stream.close()),
  );
  expect(result).toHaveLength(48);
  expect((await attacker().get(page)).text.length).toBeLessThan(1024 * 1024);
});

test('an account that adds, verifies and removes domains again and again does not delay others', async () => {
  await underAttack(ground.service, async () => {
    for (let round = 0; round < 60; round++) {
      const host = `www.round-${String(round)}.test`;
      const added = await addDomain(attacker(), 'birds', host);
      expect(added.status).toBeLessThan(500);
      if (added.status !== 303) break;
      const page = `${domainsPath('birds')}/${host}`;
      const checked = attacker().post(`${page}/verify`);
      await attacker().post(`${page}/remove`);
      await checked;
    }
  });
  expect((await addDomain(other.visitor, 'cats', 'www.cats.test')).status).toBe(303);
});

test('an account that starts hundreds of projects gets as many as its plan allows, and does not delay others', async () => {
  const { visitor } = await ground.openAccount('collector');
  const begin = (_: unknown, at: number) => () => startProject(visitor, `Nest ${at}`);
  const { result } = await underAttack(ground.service, () =>
    new PQueue({ concurrency: 8 }).addAll(Array.from({ length: 200 }, begin)),
  );
  const statuses = Object.entries(Object.groupBy(result, ({ status }) => status));
  const { projects } = planAllowances.pro;
  expect(statuses.map(([status, all = []]) => [status, all.length])).toEqual([
    ['303', projects],
    ['422', 200 - projects],
  ]);
});

test('five wrong passwords from another network lock nobody out', async () => {
  const { email } = other;
  const password = 'seven otters juggle';
  const set = await other.visitor.post('/dashboard/me/password', { wanted: password });
  expect(set.status).toBe(303);
  const stranger = () => new DashboardVisitor(ground.service.origin);
  const signIn = async (typed: string, network: string): Promise<number> => {
    const from = { 'X-Forwarded-For': network };
    const fields = { email, password: typed };
    return (await stranger().post('/dashboard/sign-in', fields, from)).status;
  };
  await underAttack(ground.service, async () => {
    const tries = Array.from({ length: 8 }, () => signIn('wrong password', '192.0.2.1'));
    for (const status of await Promise.all(tries)) expect([422, 429]).toContain(status);
  });
  expect(await signIn(password, '198.51.100.1')).toBe(303);
});
