import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import { later, now } from '../../support/accounts.ts';
import { race } from '../../support/race.ts';
import { describeStores, test, testOnBoth } from '../../support/store-contracts.ts';

describeStores('leases of jobs', (stores) => {
  const end = later(30_000);
  const newJob = () => `job ${randomUUID()}`;

  testOnBoth('the holder of a job keeps others from it and can renew its lease', async () => {
    const { jobLeases, secondProcess } = stores;
    const job = newJob();
    expect(await jobLeases.hold(job, 'one', now, end)).toBe(true);
    expect(await secondProcess.jobLeases.hold(job, 'other', now, end)).toBe(false);
    expect(await jobLeases.hold(job, 'one', later(20_000), later(50_000))).toBe(true);
    expect(await secondProcess.jobLeases.hold(job, 'other', later(49_999), later(60_000))).toBe(
      false,
    );
    expect(await secondProcess.jobLeases.hold(newJob(), 'other', now, end)).toBe(true);
  });

  testOnBoth(
    'an expired or released lease goes to the next process, which then keeps it',
    async () => {
      const { jobLeases, secondProcess } = stores;
      const job = newJob();
      await jobLeases.hold(job, 'dead', now, end);
      expect(await secondProcess.jobLeases.hold(job, 'next', end, later(60_000))).toBe(true);
      expect(await jobLeases.hold(job, 'dead', end, later(60_000))).toBe(false);
      await jobLeases.release(job, 'dead');
      expect(await jobLeases.hold(job, 'dead', end, later(60_000))).toBe(false);
      await secondProcess.jobLeases.release(job, 'next');
      expect(await jobLeases.hold(job, 'dead', end, later(60_000))).toBe(true);
    },
  );

  test('releasing a job that nobody holds does nothing', async () => {
    const job = newJob();
    await stores.jobLeases.release(job, 'one');
    expect(await stores.jobLeases.hold(job, 'one', now, end)).toBe(true);
  });

  testOnBoth.each(['that is new', 'whose lease has expired'])(
    'when many processes want a job %s at the same time, one gets it',
    async (what) => {
      const job = newJob();
      if (what === 'whose lease is over') await stores.jobLeases.hold(job, 'dead', now, end);
      const { won } = await race(20, (n) =>
        (n % 2 ? stores : stores.secondProcess).jobLeases.hold(job, `p${n}`, end, later(60_000)),
      );
      expect(won.filter((isHeld) => isHeld)).toHaveLength(1);
      expect(won).toHaveLength(20);
    },
  );
});
