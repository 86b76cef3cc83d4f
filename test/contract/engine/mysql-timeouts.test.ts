import { expect, test } from '@jest/globals';
import { MysqlTimeouts } from '../../../src/adapters/kysely/engine/mysql-timeouts.ts';
import { until } from '../../support/until.ts';

/** Tells how late each was given up, by name. */
const timed = (names: Readonly<Record<string, number>>) => {
  const timeouts = new MysqlTimeouts();
  const lateMs = new Map<string, number>();
  const all = Object.entries(names).map(([name, ms]) => {
    const endsAt = performance.now() + ms;
    const one = { endsAt, giveUp: () => void lateMs.set(name, performance.now() - endsAt) };
    timeouts.add(one);
    return one;
  });
  return { timeouts, lateMs, all };
};

test('each ends at its own time, whatever the order in which they began', async () => {
  const { lateMs } = timed({ last: 120, first: 40, over: -5, second: 80, alsoSecond: 80 });
  await until('all ended', () => lateMs.size === 5);
  expect([...lateMs.keys()]).toEqual(['over', 'first', 'second', 'alsoSecond', 'last']);
  expect([...lateMs.values()].every((ms) => ms >= 0)).toBe(true);
});

test('what is over in time is never given up, and holds nothing else up', async () => {
  const { timeouts, lateMs, all } = timed({ answered: 20, silent: 60, endless: 3_600_000 });
  timeouts.delete(all[0]!);
  await until('the silent one ended', () => lateMs.size > 0);
  expect([...lateMs.keys()]).toEqual(['silent']);
});

test('one that gives up may begin another', async () => {
  const { timeouts, lateMs } = timed({ slow: 80 });
  const ended: string[] = [];
  const again = () => ({ endsAt: performance.now() + 10, giveUp: () => ended.push('again') });
  const giveUp = () => {
    timeouts.add(again());
  };
  timeouts.add({ endsAt: performance.now() + 10, giveUp });
  await until('the slow one ended', () => lateMs.size > 0);
  expect(ended).toEqual(['again']);
});
