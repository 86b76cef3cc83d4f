import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { uploadSlots } from '../../src/adapters/uploads/slots.ts';
import {
  deepFolders,
  largeFile,
  sendAhead,
  slowUpload,
  openStalledSessions,
} from '../attacks/attackers.ts';
import { underAttack } from '../attacks/attack.ts';
import {
  openGround,
  siteHost,
  startProject,
  upload,
  uploadInTurn,
  type Customer,
  type Ground,
} from '../attacks/ground.ts';
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
  // The large file does not fit into the memory of an edge.
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

test('an archive of thousands of files hundreds of folders deep does not delay others', async () => {
  const archive = await deepFolders();
  const { result } = await underAttack(ground.service, () =>
    uploadInTurn(attacker(), 'birds', archive),
  );
  expect(result.status).toBeLessThan(500);
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

test('thousands of requests in one packet do not delay others', async () => {
  const { origin } = ground.service;
  await underAttack(ground.service, async () => {
    for (const path of ['/v1/pets', '/dashboard/sign-in', '/healthz', '/nowhere']) {
      await Promise.all([1, 2].map(() => sendAhead(origin, path, 20_000)));
    }
  });
});
