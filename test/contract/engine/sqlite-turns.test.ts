import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Database } from '../../../src/adapters/kysely/database.ts';
import { holdStopwatch } from '../../support/held-timeouts.ts';

let folder: string;
let database: Database;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'turns-'));
  database = new Database(`sqlite:${join(folder, 'turns.db')}`);
});
afterAll(async () => {
  await database.close();
  await rm(folder, { recursive: true });
});

afterEach(() => {
  jest.useRealTimers();
});

test('many concurrent writes to SQLite do not block the event loop', async () => {
  holdStopwatch();
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const write = () =>
    database.transaction(() => {
      jest.advanceTimersByTime(5);
      return Promise.resolve();
    });
  await Promise.all(Array.from({ length: 100 }, write));
  isOver = true;
  // Half a second of work, with a turn every 20 ms.
  expect(turns).toBeGreaterThanOrEqual(25);
});
