import type { ResolverState } from './world/dns-resolver.ts';
import type { ZoneState } from './world/dns.ts';
import { isShop, receiverOf, shopNames, shopOf } from './shops.ts';
import { shortTerms } from './world/authority-limits.ts';
import type { World, AuthorityName } from './world/world.ts';
import { authorityNames, service, vantagesOf } from './world/world.ts';
import { dayMs } from './world/durations.ts';

export interface FleetWeather {
  /** Signals between processes are lost, as during a Redis outage. */
  losesSignals: boolean;
}

const resolverStates: Readonly<Record<string, ResolverState>> = {
  silent: { kind: 'silent' },
  slow: { kind: 'slow', ms: 3000 },
  failing: { kind: 'failing', reason: 'servfail' },
  refusing: { kind: 'failing', reason: 'refused' },
  stale: { kind: 'stale' },
  denying: { kind: 'denying' },
  foreign: { kind: 'foreign', address: '198.51.100.99' },
};

const zoneStates: Readonly<Record<string, ZoneState>> = {
  silent: { kind: 'silent' },
  slow: { kind: 'slow', ms: 2000 },
  lame: { kind: 'lame' },
  bogus: { kind: 'bogus' },
};

const well = {
  away: 'no',
  failing: 0,
  busy: 0,
  refusesNonces: 0,
  losesRequests: 0,
  losesAnswers: 0,
  repeats: 0,
  leaves: false,
  slowMs: 0,
} as const;

const authorityStates: Readonly<Record<string, Partial<World['authorities']['one']['weather']>>> = {
  away: { away: 'refuses' },
  silent: { away: 'silent' },
  failing: { failing: 0.5 },
  busy: { busy: 0.3 },
  forgetful: { refusesNonces: 0.3 },
  deaf: { losesRequests: 0.4 },
  mute: { losesAnswers: 0.4 },
  echoing: { repeats: 0.4 },
  slow: { slowMs: 20_000 },
  leaving: { leaves: true },
};

const receiverStates = {
  hanging: { kind: 'hangs' },
  refusing: { kind: 'refuses' },
  failing: { kind: 'answers', status: 500 },
  busy: { kind: 'answers', status: 503 },
  gone: { kind: 'answers', status: 410 },
  mute: { kind: 'losesAnswer' },
  slow: { kind: 'well', slowMs: 4000 },
} as const;

const mailStates = { away: 'away', hanging: 'hangs', mute: 'losesAnswers' } as const;

/** The possible conditions of each part of the world; `well` ends them. */
export const conditions = {
  resolver: Object.keys(resolverStates),
  zone: Object.keys(zoneStates),
  authority: Object.keys(authorityStates),
  /** What an authority sees of the DNS from all its vantage points. */
  view: Object.keys(resolverStates),
  receiver: Object.keys(receiverStates),
  mail: Object.keys(mailStates),
  signals: ['lost'],
} as const;

export type Part = keyof typeof conditions;

/** The objects of each part of the world. */
export const objectsOf: Readonly<Record<Part, readonly string[]>> = {
  resolver: service.resolvers,
  zone: [...shopNames.map((shop) => shopOf(shop).zone), service.acmeDnsZone],
  authority: authorityNames,
  view: authorityNames,
  receiver: shopNames,
  mail: ['server'],
  signals: ['all'],
};

/** Applies a step of the weather. @throws Error for an invalid step */
export const turnWeather = (
  world: World,
  fleet: FleetWeather,
  [part = '', object = '', condition = '']: readonly string[],
): void => {
  const turn = turns[part];
  if (!turn) throw new Error(`no weather of ${part}`);
  turn(world, fleet, object, condition);
};

const profile = 'classic';

const turns: Readonly<
  Record<string, (world: World, fleet: FleetWeather, object: string, condition: string) => void>
> = {
  resolver: ({ dns }, _fleet, address, condition) => {
    dns.weather.resolver(address, stateIn(resolverStates, condition));
  },
  zone: ({ dns }, _fleet, zone, condition) => {
    dns.weather.zone(zone, stateIn(zoneStates, condition));
  },
  authority: ({ authorities }, _fleet, name, condition) => {
    Object.assign(
      authorities[name as AuthorityName].weather,
      well,
      stateIn(authorityStates, condition),
    );
  },
  view: ({ dns }, _fleet, name, condition) => {
    for (const place of vantagesOf(name))
      dns.weather.resolver(place, stateIn(resolverStates, condition));
  },
  windows: ({ authorities }, _fleet, name) => {
    authorities[name as AuthorityName].moveWindows();
  },
  lifetime: ({ authorities }, _fleet, name, days) => {
    authorities[name as AuthorityName].setTerms(profile, { lifetimeMs: Number(days) * dayMs });
  },
  terms: ({ authorities }, _fleet, name) => {
    const { pendingMs, reuseMs, orderMs } = shortTerms;
    authorities[name as AuthorityName].setTerms(profile, { pendingMs, reuseMs, orderMs });
  },
  policy: ({ authorities }, _fleet, name, host) => {
    authorities[name as AuthorityName].rejected.add(host);
  },
  others: ({ authorities }, _fleet, zone, count) => {
    for (const name of authorityNames) authorities[name].issueToOthers(zone, Number(count));
  },
  receiver: ({ receivers }, _fleet, shop, condition) => {
    if (!isShop(shop)) throw new Error(`no receiver of ${shop}`);
    const state = stateIn(receiverStates, condition);
    if (state) receivers.weather.set(receiverOf(shop), state);
    else receivers.weather.delete(receiverOf(shop));
  },
  mail: ({ mail }, _fleet, _server, condition) => {
    mail.weather.server = stateIn(mailStates, condition) ?? 'well';
  },
  signals: (_world, fleet, _all, condition) => {
    fleet.losesSignals = condition === 'lost';
  },
};

/** @returns undefined for `well` @throws Error for an unknown word */
const stateIn = <State>(
  states: Readonly<Record<string, State>>,
  condition: string,
): State | undefined => {
  if (condition === 'well') return undefined;
  const state = states[condition];
  if (state === undefined) throw new Error(`no weather is called ${condition}`);
  return state;
};

export const clearWeather = (world: World, fleet: FleetWeather): void => {
  for (const [part, objects] of Object.entries(objectsOf)) {
    for (const object of objects) turnWeather(world, fleet, [part, object, 'well']);
  }
};
