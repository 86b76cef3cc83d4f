import { until } from '../support/until.ts';
import type { CustomDomainState } from '../../src/domains/domain/attachment/custom-domain.ts';
import type { DomainLab } from './domain-lab.ts';
import type { FakeClock } from './fake-clock.ts';

interface Place {
  readonly lab: DomainLab;
  readonly clock: FakeClock;
}

interface SeenTo extends Pick<Place, 'clock'> {
  readonly lab: Pick<DomainLab, 'facts'>;
  readonly hosts: readonly string[];
  readonly states: readonly CustomDomainState[];
  /** The least that the clock advances. */
  readonly leastSeconds?: number;
}

/**
 * Waits while domains are in these states. On a busy machine, name servers may answer too late; then this
 * advances the clock to the next check. It never does so while one of the domains is in progress, because
 * another process would consider its lease expired.
 */
export const untilSeenTo = (
  what: string,
  { lab: { facts }, clock, hosts, states, leastSeconds = 0 }: SeenTo,
  isDone: () => Promise<boolean>,
): Promise<true> => {
  const look = async (): Promise<boolean> => {
    const restUntil = await facts.restUntil(hosts, clock.now(), states);
    if (await isDone()) return true;
    if (restUntil) await clock.advance(Math.max(leastSeconds, secondsUntil(restUntil, clock)));
    return false;
  };
  return until(what, look).catch(async (error: unknown) => {
    const stories = await Promise.all(hosts.map((host) => facts.story(host)));
    throw new Error(stories.join('\n'), { cause: error });
  });
};

/** Waits until these hosts are live and served. */
export const goLive = async (at: Place, ...hosts: readonly string[]): Promise<void> => {
  const isLive = async (host: string) => (await at.lab.facts.states(host)).at(-1) === 'live';
  const areLive = async () => (await Promise.all(hosts.map(isLive))).every(Boolean);
  await untilSeenTo('all are live', { ...at, hosts, states: ['added', 'verified'] }, areLive);
  await at.lab.waitUntilServed(...hosts);
};

/** Waits until the due certificate of a live host is renewed. */
export const renew = async (at: Place, host: string): Promise<void> => {
  const isRenewed = async () => (await at.lab.facts.stepsOf(host)).includes('renewed');
  const seen = { ...at, hosts: [host], states: ['live'], leastSeconds: 24 * 60 * 60 } as const;
  await untilSeenTo(`${host} is renewed`, seen, isRenewed);
};

const secondsUntil = (moment: Date, clock: FakeClock): number =>
  Math.ceil((moment.getTime() - clock.now().getTime()) / 1000) + 1;
