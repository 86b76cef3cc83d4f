import { until } from '../support/until.ts';
import type { DomainLab } from './domain-lab.ts';
import type { FakeClock } from './fake-clock.ts';

/**
 * Waits while domains that are not live yet are seen to by themselves. A busy machine can keep name servers from
 * answering in time: then the clock goes on to the next check, as nothing else would bring it. Never while one of the
 * domains is worked on, whose lease another process would take for over.
 */
const untilSeenTo = (
  what: string,
  { lab: { facts }, clock }: { readonly lab: DomainLab; readonly clock: FakeClock },
  hosts: readonly string[],
  isDone: () => Promise<boolean>,
): Promise<true> => {
  const look = async (): Promise<boolean> => {
    // Before it is asked whether all is done: it may be done in between.
    const restUntil = await facts.restUntil(hosts, clock.now());
    if (await isDone()) return true;
    if (restUntil) await clock.advance(secondsUntil(restUntil, clock));
    return false;
  };
  return until(what, look).catch(async (error: unknown) => {
    const stories = await Promise.all(hosts.map((host) => facts.story(host)));
    throw new Error(stories.join('\n'), { cause: error });
  });
};

/** Waits until these hosts are live and served. */
export const goLive = async (
  at: { readonly lab: DomainLab; readonly clock: FakeClock },
  ...hosts: readonly string[]
): Promise<void> => {
  const isLive = async (host: string) => (await at.lab.facts.states(host)).at(-1) === 'live';
  const areLive = async () => (await Promise.all(hosts.map(isLive))).every(Boolean);
  await untilSeenTo('all are live', at, hosts, areLive);
  await at.lab.waitUntilServed(...hosts);
};

/** Rounded up to one more than it takes. */
const secondsUntil = (moment: Date, clock: FakeClock): number =>
  Math.ceil((moment.getTime() - clock.now().getTime()) / 1000) + 1;
