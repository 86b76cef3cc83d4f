import { expect, test } from '@jest/globals';
import { Slots, type GiveBack } from '../../../src/adapters/uploads/slots.ts';

/** Waits in the queue of an account, and reports its turn. */
const waitingIn = (slots: Slots) => {
  const turns: string[] = [];
  const places: GiveBack[] = [];
  const wait = (accountId: string): void => {
    void slots.take(accountId).then((giveBack) => {
      turns.push(accountId);
      places.push(giveBack);
    });
  };
  return { turns, places, wait };
};

const afterAll = () => new Promise((resolve) => setImmediate(resolve));

test('an account gets no more places than its limit, however many are free', () => {
  const slots = new Slots({ all: 3, ofOne: 2 });
  expect(slots.tryTake('a')).toBeDefined();
  const giveBack = slots.tryTake('a');
  expect(slots.tryTake('a')).toBeUndefined();
  expect(slots.tryTake('b')).toBeDefined();
  expect(slots.tryTake('c')).toBeUndefined();
  giveBack!();
  expect(slots.tryTake('c')).toBeDefined();
});

test('a place that is returned twice becomes free only once', () => {
  const slots = new Slots({ all: 2, ofOne: 2 });
  const giveBack = slots.tryTake('a')!;
  slots.tryTake('a');
  giveBack();
  giveBack();
  expect(slots.tryTake('b')).toBeDefined();
  expect(slots.tryTake('c')).toBeUndefined();
});

test('waiting requests get their turn in order, and an account waits only for its own places', async () => {
  const slots = new Slots({ all: 2, ofOne: 1 });
  const { turns, places, wait } = waitingIn(slots);
  for (const accountId of ['a', 'a', 'b', 'c']) wait(accountId);
  await afterAll();
  expect(turns).toEqual(['a', 'b']);
  places[1]!();
  await afterAll();
  expect(turns).toEqual(['a', 'b', 'c']);
  places[0]!();
  await afterAll();
  expect(turns).toEqual(['a', 'b', 'c', 'a']);
});
