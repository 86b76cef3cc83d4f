import { beforeEach, expect, test } from '@jest/globals';
import type { AccessPorts } from '../../../src/access/ports.ts';
import type { SettableClock } from '../../memory/settable-clock.ts';
import { workerJobs, type WorkerPorts } from '../../../src/app/jobs.ts';
import { memoryAccess } from '../../support/access/memory-access.ts';
import { letIn, sessionOf } from '../../support/access/people.ts';
import { mustNotBeUsed } from '../../support/strict-fake.ts';

const start = new Date('2026-03-01T10:00:00Z');
const day = 24 * 60 * 60_000;

let ports: AccessPorts;
let clock: SettableClock;
let personId: string;
beforeEach(async () => {
  const memory = memoryAccess(start);
  ({ ports, clock } = memory);
  const draft = { name: 'Zoo', email: 'mia@shop.example', plan: 'free' } as const;
  const { account } = await memory.face.createAccount(draft);
  personId = (await memory.face.listPeople(account.id))[0]!.id;
});

const run = async (name: string): Promise<unknown> => {
  const { sessions, signInLinks } = ports;
  const others = ['relay', 'outbox', 'sites', 'ledger', 'timeline'].map((port) => [
    port,
    mustNotBeUsed(port),
  ]);
  const jobs = workerJobs({
    ...(Object.fromEntries(others) as WorkerPorts),
    ...{ sessions, signInLinks, clock, verifierSchedule: '* * * * * *' },
  });
  const [job] = jobs.filter((one) => one.name === name);
  expect(job?.schedule).toMatch(/^\d+ \d+ \* \* \* \*$/);
  return job?.run();
};

test('sessions that ended more than a day ago are forgotten, hourly', async () => {
  const { session } = await letIn(ports, sessionOf(personId, { way: 'link' }, start));
  clock.set(new Date(session.endsAt.getTime() + day));
  expect(await run('forget sessions that are over')).toBe(0);
  expect(await ports.sessions.list(personId)).toEqual([session]);
  clock.advance(1);
  expect(await run('forget sessions that are over')).toBe(1);
  expect(await ports.sessions.list(personId)).toEqual([]);
});

test('sign-in links that ended more than a day ago are forgotten, hourly', async () => {
  await ports.signInLinks.add({ secretHash: 'hash', personId, endsAt: start }, []);
  clock.advance(day);
  expect(await run('forget sign-in links that are over')).toBe(0);
  clock.advance(1);
  expect(await run('forget sign-in links that are over')).toBe(1);
});
