import { beforeEach, expect, test } from '@jest/globals';
import { AsyncDeadline } from '../../../src/adapters/system/system-ports.ts';

let now: number;
let deadline: AsyncDeadline;
beforeEach(() => {
  now = 0;
  deadline = new AsyncDeadline(5000, () => now);
});

const passing = (ms: number): Promise<void> => {
  now += ms;
  return Promise.resolve();
};

test('work outside a request has no deadline', () => {
  expect(deadline.leftMs).toBe(Infinity);
});

test('all work of a request shares one deadline', async () => {
  await deadline.during(async () => {
    await passing(1000);
    expect(deadline.leftMs).toBe(4000);
    await passing(3999);
    expect(deadline.leftMs).toBe(1);
    await passing(10);
    expect(deadline.leftMs).toBe(0);
  });
});

test('simultaneous requests have separate deadlines', async () => {
  const first = Promise.withResolvers<undefined>();
  const earlier = deadline.during(async () => {
    await first.promise;
    return deadline.leftMs;
  });
  now = 2000;
  const later = deadline.during(async () => {
    await first.promise;
    return deadline.leftMs;
  });
  first.resolve(undefined);
  expect([await earlier, await later]).toEqual([3000, 5000]);
});

test('work with its own time limit does not use up the time of the request, even when it fails', async () => {
  await deadline.during(async () => {
    await passing(1000);
    await deadline.apart(() => passing(60_000));
    const broken = deadline.apart(async () => {
      await passing(60_000);
      throw new Error('broken');
    });
    await expect(broken).rejects.toThrow('broken');
    expect(deadline.leftMs).toBe(4000);
  });
});

test('work with its own limit does not end with the request', async () => {
  await deadline.during(async () => {
    await passing(6000);
    await deadline.apart(() => {
      expect(deadline.leftMs).toBe(Infinity);
      return Promise.resolve();
    });
  });
});

test('background work of a request has no deadline once the request is answered', async () => {
  const answered = Promise.withResolvers<undefined>();
  let goesOn: Promise<number> | undefined;
  await deadline.during(() => {
    goesOn = answered.promise.then(() => deadline.leftMs);
    return passing(9000);
  });
  answered.resolve(undefined);
  expect(await goesOn).toBe(Infinity);
});
