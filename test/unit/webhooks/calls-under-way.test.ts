import { expect, test } from '@jest/globals';
import { CallsUnderWay, mostAtOnce, places } from '../../../src/adapters/schedule/shares.ts';

const due = (id: number, webhookId = `hook_${id}`, receiver = `${webhookId}.example`) => ({
  id: `whd_${id}`,
  webhookId,
  accountId: `acct_of_${webhookId}`,
  receiver,
});
const nobody = { webhooks: [], accounts: [], receivers: [] };
const many = (count: number, of = (id: number) => due(id)) =>
  Array.from({ length: count }, (_, id) => of(id));
type Due = ReturnType<typeof due>;
const begin = (calls: CallsUnderWay, some: readonly Due[], lane = 'quick'): void => {
  for (const { webhookId, accountId, ...one } of some)
    calls.begin({ ...one, delivery: { webhookId, accountId } }, lane);
};
const begun = (calls: CallsUnderWay, count: number, isSlow = false): readonly Due[] => {
  const chosen = calls.choose(
    many(count, (id) => due(isSlow ? 10_000 + id : id)),
    isSlow,
  );
  begin(calls, chosen, isSlow ? 'slow' : 'quick');
  return chosen;
};
/** The number of receivers with one call each for which there is room. */
const room = (calls: CallsUnderWay, isSlow: boolean) =>
  calls.choose(
    many(1000, (id) => due(id, `hook_other_${id}`)),
    isSlow,
  ).length;

test('each kind of receiver has separate places', () => {
  const calls = new CallsUnderWay();
  expect(begun(calls, 1000)).toHaveLength(places.quick);
  expect([room(calls, false), room(calls, true)]).toEqual([0, places.slow]);
  expect(begun(calls, 1000, true)).toHaveLength(places.slow);
  expect(calls.choose(many(10), true)).toEqual([]);
});

test('a slow call gives its place to others once, even when no slow place is free', () => {
  const calls = new CallsUnderWay();
  begun(calls, places.slow - 1, true);
  const [first, second] = begun(calls, 10) as [Due, Due];
  expect([first, first, second].map(({ id }) => calls.makeSlow(id))).toEqual([
    ...[true, false, true],
  ]);
  expect([room(calls, false), room(calls, true)]).toEqual([places.quick - 8, 0]);
  calls.end(first);
  calls.end(second);
  expect([room(calls, false), room(calls, true)]).toEqual([places.quick - 8, 1]);
});

test('a webhook gets a few places at a time, and calls to other webhooks go first', () => {
  const calls = new CallsUnderWay();
  const burst = [...many(50, (id) => due(id, 'hook_busy')), due(51)];
  const chosen = calls.choose(burst, false);
  expect(chosen).toEqual([...burst.slice(0, mostAtOnce.webhook), due(51)]);
  begin(calls, chosen);
  expect(calls.full(false)).toEqual({ ...nobody, webhooks: ['hook_busy'] });
  expect(calls.choose(burst.slice(10, 20), false)).toEqual([]);
  calls.end(chosen[0]!);
  expect(calls.full(false)).toEqual(nobody);
  expect(calls.choose(burst.slice(10, 20), false)).toHaveLength(1);
});

test('webhooks of one account share the places of a receiver, and those of other accounts have separate ones', () => {
  const calls = new CallsUnderWay();
  const receiver = 'shared.example';
  const of = (accountId: string) =>
    many(20, (id) => ({ ...due(id, `hook_${accountId}_${id}`, receiver), accountId }));
  const chosen = calls.choose(of('acct_1'), false);
  expect(chosen).toHaveLength(mostAtOnce.receiver);
  begin(calls, chosen);
  expect(calls.full(false)).toEqual({ ...nobody, receivers: [{ accountId: 'acct_1', receiver }] });
  expect(calls.choose(of('acct_1'), false)).toEqual([]);
  expect(calls.choose(of('acct_2'), false)).toHaveLength(mostAtOnce.receiver);
});

test('an account gets a few places at a time, and its slow calls use none of its fast places', () => {
  const calls = new CallsUnderWay();
  const accountId = 'acct_busy';
  const burst = [...many(50, (id) => ({ ...due(id), accountId })), due(51)];
  const chosen = calls.choose(burst, false);
  expect(chosen).toEqual([...burst.slice(0, mostAtOnce.account), due(51)]);
  begin(calls, chosen);
  expect(calls.full(false)).toEqual({ ...nobody, accounts: [accountId] });
  expect(calls.full(true)).toEqual(nobody);
  for (const { id } of chosen) calls.makeSlow(id);
  expect(calls.full(false)).toEqual(nobody);
  expect(calls.full(true)).toEqual({ ...nobody, accounts: [accountId] });
  expect(calls.choose(burst, true)).toEqual([due(51)]);
  expect(calls.choose(burst.slice(20), false)).toHaveLength(mostAtOnce.account + 1);
});

test('nothing remains of calls that ended', () => {
  const calls = new CallsUnderWay();
  for (const one of begun(calls, 100)) calls.end(one);
  expect([room(calls, false), room(calls, true), calls.full(false)]).toEqual([
    ...[places.quick, places.slow, nobody],
  ]);
});
