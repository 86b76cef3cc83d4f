import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import {
  connectAuthority,
  startPebbleLab,
  type PebbleLab,
} from '../../lab/authority/pebble-lab.ts';
import { newHost, obtain } from './certificate-authority-steps.ts';
import { caPlaces } from '../../lab/authority/gate-caa.ts';

let lab: PebbleLab;
beforeAll(async () => {
  lab = await startPebbleLab();
});
afterAll(() => lab.close());
beforeEach(() => void (lab.gate.log.length = 0));
afterEach(() => {
  lab.gate.setProfiles();
  lab.gate.setFaults();
  lab.gate.setRenewalInfo(undefined);
});

const connect = (profile?: string) => {
  const missed: string[] = [];
  const lacksProfile = (name: string) => void missed.push(name);
  return { ...connectAuthority(lab, { profile, lacksProfile }), missed };
};
const asked = () =>
  lab.gate.asked(caPlaces.newOrder).map(({ payload }) => (payload as { profile?: string }).profile);

test('an order asks for the profile, where the authority offers it', async () => {
  lab.gate.setProfiles('classic', 'shortlived');
  const { authority, missed, publish } = connect('shortlived');
  await obtain({ authority, publish });
  await authority.order(newHost());
  expect(asked()).toEqual(['shortlived', 'shortlived']);
  expect(missed).toEqual([]);
});

test('no profile is asked for unless one is wanted', async () => {
  lab.gate.setProfiles('classic');
  const { authority, missed } = connect();
  expect(await authority.order(newHost())).toMatchObject({ kind: 'ordered' });
  expect([asked(), missed]).toEqual([[undefined], []]);
});

test.each([[[]], [['classic']]])(
  'an authority that offers %j gives its default, and that is told',
  async (offered) => {
    lab.gate.setProfiles(...offered);
    const { authority, missed } = connect('shortlived');
    expect(await authority.order(newHost())).toMatchObject({ kind: 'ordered' });
    expect([asked(), missed]).toEqual([[undefined], ['shortlived']]);
  },
);

test('a profile that is withdrawn stops no renewal, and is asked for once it is offered again', async () => {
  lab.gate.setProfiles('shortlived');
  const { authority, missed } = connect('shortlived');
  await authority.order(newHost());
  lab.gate.setProfiles('classic');
  expect(await authority.order(newHost())).toMatchObject({ kind: 'ordered' });
  expect(asked()).toEqual(['shortlived', 'shortlived', undefined]);
  expect(missed).toEqual(['shortlived']);
  lab.gate.setProfiles('shortlived');
  await authority.order(newHost());
  expect(asked().at(-1)).toBe('shortlived');
});

test('a renewal names its profile beside the certificate that it replaces', async () => {
  lab.gate.setProfiles('shortlived');
  const { authority, publish } = connect('shortlived');
  const { chain } = await obtain({ authority, publish });
  lab.gate.setRenewalInfo({ body: '{}' });
  const again = connect('shortlived');
  expect(await again.authority.order(newHost(), chain)).toMatchObject({ isExempt: true });
  const [payload] = lab.gate
    .asked(caPlaces.newOrder)
    .slice(-1)
    .map((one) => one.payload);
  expect(payload).toMatchObject({ profile: 'shortlived', replaces: expect.any(String) });
});

test('any other refusal of an order with a profile is a failure', async () => {
  lab.gate.setProfiles('shortlived');
  const problem = { type: 'rateLimited', detail: 'too many' };
  lab.gate.setFaults({ match: caPlaces.newOrder, times: 1, status: 429, problem });
  const { authority, missed } = connect('shortlived');
  expect(await authority.order(newHost())).toMatchObject({ failure: { reason: 'rate_limited' } });
  expect([asked(), missed]).toEqual([['shortlived'], []]);
});
