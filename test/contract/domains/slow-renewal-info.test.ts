import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { planRenewals } from '../../../src/domains/use-cases/plan-renewals.ts';
import type { CertificateAuthority, Certificates } from '../../../src/domains/certificate-ports.ts';
import { startCaGate, type CaGate, unanswered } from '../../lab/authority/ca-gate.ts';
import {
  connectAuthority,
  startPebbleLab,
  type PebbleLab,
} from '../../lab/authority/pebble-lab.ts';
import { SettableClock } from '../../support/settable-clock.ts';
import { later } from '../../support/accounts.ts';
import { liveDomain, servedProject } from '../../support/domains/custom-domains.ts';
import { storesOfTests } from '../../support/stores-of-tests.ts';
import { until } from '../../support/until.ts';
import { obtain } from './certificate-authority-steps.ts';
import { type CaFault, caPlaces } from '../../lab/authority/gate-caa.ts';

const day = 24 * 60 * 60_000;
const body = JSON.stringify({ suggestedWindow: { start: later(40 * day), end: later(42 * day) } });
const clock = new SettableClock(later(day));
const atOnce = 8;
/** In a row; see `mostUnanswered` in plan-renewals.ts. */
const mostUnanswered = 3;

const open = storesOfTests();
let lab: PebbleLab;
let gates: readonly [CaGate, CaGate];
let known: string;
beforeAll(async () => {
  lab = await startPebbleLab();
  known = (await obtain(connectAuthority(lab))).chain;
  const [dns = ''] = lab.dns.servers;
  gates = [lab.gate, await startCaGate({ pebble: lab.pebble, issuer: 'second.test', dns })];
  for (const gate of gates) gate.setRenewalInfo({ body });
});
afterAll(async () => {
  gates[1].close();
  await lab.close();
});

beforeEach(() => {
  for (const gate of gates) gate.log.length = 0;
});

/** So many live domains with certificates of each of two authorities, whose windows are asked for over the network. */
const liveAtBoth = async (count: number) => {
  const stores = await open();
  const project = await servedProject(stores);
  const find = () => Promise.resolve({ chain: known });
  const certificates = Object.assign(Object.create(stores.certificates) as Certificates, { find });
  const connect = (gate: CaGate): CertificateAuthority =>
    connectAuthority({ ...lab, gate }, {}, { clock }).authority;
  const [authority, secondAuthority] = [connect(gates[0]), connect(gates[1])];
  for (const issuedBy of [authority.name, secondAuthority.name]) {
    for (let n = 0; n < count; n++) {
      const { id } = await liveDomain(stores, project);
      await stores.domains.change(id, (one) => {
        if (one.state !== 'live') throw new Error('it is not live');
        return { state: { ...one, certificate: { ...one.certificate, issuedBy } }, events: [] };
      });
    }
  }
  const plannedAt = async ({ name }: CertificateAuthority): Promise<number> =>
    (await stores.domains.inState('live', '', 1000)).filter(
      ({ certificate: its }) => its.kind === 'issued' && its.issuedBy === name && its.hasWindow,
    ).length;
  const naming = { platformHost: 'sites.test', allowTestDomains: false };
  const own = { naming, hasPlatformFiles: false };
  const around = { certificates, authority, secondAuthority, clock, chance: () => 0 };
  const ports = { ...stores, ...around, ...own };
  return { ports, plannedAt };
};

/** The first question is answered: it shows that the authority is there. */
const afterFirst = (fault: Omit<CaFault, 'match'>): readonly CaFault[] => [
  { match: caPlaces.renewalInfo, times: 1 },
  { match: caPlaces.renewalInfo, ...fault },
];

test('authorities are asked for windows side by side, with a bound, and a slow one holds up nobody', async () => {
  const { ports, plannedAt } = await liveAtBoth(12);
  const answers = Promise.withResolvers<undefined>();
  gates[0].setFaults(...afterFirst({ held: answers.promise }));
  const run = planRenewals(ports)();
  const isDone = async () => (await plannedAt(ports.secondAuthority)) === 12;
  await until('the other one has answered all', isDone);
  await until('all lanes wait', () => unanswered(gates[0], caPlaces.renewalInfo).length >= atOnce);
  expect(unanswered(gates[0], caPlaces.renewalInfo)).toHaveLength(atOnce);
  expect(await plannedAt(ports.authority)).toBe(1);
  answers.resolve(undefined);
  expect(await run).toMatchObject({ planned: 24, ignored: [] });
});

test('an authority that fails is asked no more in a run, and the other one all the same', async () => {
  const { ports, plannedAt } = await liveAtBoth(12);
  gates[0].setFaults(...afterFirst({ reset: true }));
  expect(await planRenewals(ports)()).toMatchObject({ planned: 13, ignored: [] });
  expect(await plannedAt(ports.secondAuthority)).toBe(12);
  expect(gates[0].asked(caPlaces.renewalInfo).length).toBeLessThanOrEqual(
    1 + (mostUnanswered - 1) + atOnce,
  );
});
