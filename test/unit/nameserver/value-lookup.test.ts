import { expect, test } from '@jest/globals';
import { ValueLookup } from '../../../src/adapters/nameserver/value-lookup.ts';

type Found = ReadonlyMap<string, readonly string[]>;

/** A database that answers when it is told to. */
const slowDatabase = () => {
  const asked: { labels: readonly string[]; answer: (found: Found) => void }[] = [];
  const find = (labels: readonly string[]) =>
    new Promise<Found>((answer) => asked.push({ labels, answer }));
  return { asked, find };
};
const turn = () => new Promise(setImmediate);

test('queries that arrive together share one statement, and later ones share the next', async () => {
  const { asked, find } = slowDatabase();
  const lookup = new ValueLookup({ find });
  const first = ['a', 'b', 'a'].map((label) => lookup.valuesOf(label, 'udp'));
  await turn();
  const second = lookup.valuesOf('a', 'udp');
  await turn();
  expect(asked.map(({ labels }) => labels)).toEqual([['a', 'b']]);
  asked[0]?.answer(new Map([['a', ['old']]]));
  expect(await Promise.all(first)).toEqual([['old'], [], ['old']]);
  await turn();
  // Requested after the first statement began, so it gets a newer answer.
  expect(asked.map(({ labels }) => labels)).toEqual([['a', 'b'], ['a']]);
  asked[1]?.answer(new Map([['a', ['new']]]));
  expect(await second).toEqual(['new']);
});

test('a value is unknown when the database fails or does not answer in time', async () => {
  const broken = new ValueLookup({ find: () => Promise.reject(new Error('away')) });
  expect(await broken.valuesOf('a', 'udp')).toBe('unknown');
  const slow = new ValueLookup({ find: slowDatabase().find, deadlineMs: 5 });
  expect(await slow.valuesOf('a', 'udp')).toBe('unknown');
  expect(await slow.valuesOf('a', 'udp')).toBe('unknown');
  expect([broken.failed, slow.failed]).toEqual([1, 2]);
});

test('a flood of names is looked up in statements of 200, one at a time, and the excess is unknown', async () => {
  let [open, most] = [0, 0];
  const sizes: number[] = [];
  const lookup = new ValueLookup({
    find: async (labels) => {
      most = Math.max(most, (open += 1));
      sizes.push(labels.length);
      await turn();
      open -= 1;
      return new Map(labels.map((label) => [label, ['it']]));
    },
  });
  const all = await Promise.all(
    Array.from({ length: 2_500 }, (_, n) => lookup.valuesOf(String(n), 'udp')),
  );
  expect(most).toBe(1);
  expect(Math.max(...sizes)).toBe(200);
  expect(all.filter((values) => values === 'unknown')).toHaveLength(500);
});

/** A database that answers at once. */
const quickDatabase = () => {
  const asked: (readonly string[])[] = [];
  const find = (labels: readonly string[]) => {
    asked.push(labels);
    return Promise.resolve(new Map(labels.map((label) => [label, ['it']])));
  };
  return { asked, find };
};

test('queries over TCP come first, and a flood of datagrams takes none of their places', async () => {
  const { asked, find } = quickDatabase();
  const lookup = new ValueLookup({ find });
  const flood = Array.from({ length: 3_000 }, (_, n) => lookup.valuesOf(`forged-${n}`, 'udp'));
  const real = ['b', 'forged-7'].map((label) => lookup.valuesOf(label, 'tcp'));
  expect(await Promise.all(real)).toEqual([['it'], ['it']]);
  expect((await Promise.all(flood)).filter((values) => values === 'unknown')).toHaveLength(1_000);
  expect(asked[0]?.slice(0, 3)).toEqual(['b', 'forged-7', 'forged-0']);
  expect(asked[0]).toHaveLength(199);
});

test('queries over TCP leave half of each statement to datagrams', async () => {
  const { asked, find } = quickDatabase();
  const lookup = new ValueLookup({ find });
  const ask = (transport: 'udp' | 'tcp') =>
    Array.from({ length: 900 }, (_, n) => lookup.valuesOf(`${transport}-${n}`, transport));
  await Promise.all([...ask('tcp'), ...ask('udp')]);
  const overTcp = asked[0]?.filter((label) => label.startsWith('tcp'));
  expect([asked[0]?.length, overTcp?.length]).toEqual([200, 100]);
});
