import { expect, test } from '@jest/globals';
import { AcmeTransport } from '../../../src/adapters/acme/acme-transport.ts';

const directoryUrl = 'https://acme.example/directory';
const at = (seconds: number) => new Date(Date.UTC(2026, 10, 28, 9, 0, seconds));

const authority = (meta: object | undefined) => {
  const places = { newNonce: directoryUrl, newAccount: directoryUrl, newOrder: directoryUrl };
  const state = { isAway: false, asked: 0 };
  const send = () => {
    state.asked += 1;
    if (state.isAway) return Promise.reject(new Error('away'));
    return Promise.resolve({ status: 200, headers: {}, body: JSON.stringify({ ...places, meta }) });
  };
  return { state, transport: new AcmeTransport({ directoryUrl, http: { send } }) };
};

test("the authority's name in CAA records comes from its directory, which is read once", async () => {
  const { state, transport } = authority({ caaIdentities: ['CA.example', 'ca.example.net'] });
  for (const second of [0, 100]) {
    expect(await transport.caaIdentities(at(second))).toEqual(['ca.example', 'ca.example.net']);
  }
  expect(state.asked).toBe(1);
  transport.forgetDirectory();
  state.isAway = true;
  expect(await transport.caaIdentities(at(200))).toEqual(['ca.example', 'ca.example.net']);
});

test('an authority whose directory has no CAA name has none', async () => {
  expect(await authority(undefined).transport.caaIdentities(at(0))).toEqual([]);
});

test('an authority that could not be reached is asked again after a minute', async () => {
  const { state, transport } = authority({ caaIdentities: ['ca.example'] });
  state.isAway = true;
  for (const second of [0, 59]) {
    expect(await transport.caaIdentities(at(second))).toBeUndefined();
  }
  expect(state.asked).toBe(1);
  state.isAway = false;
  expect(await transport.caaIdentities(at(60))).toEqual(['ca.example']);
});

test('checks at the same moment share one answer of the authority', async () => {
  const { state, transport } = authority({ caaIdentities: ['ca.example'] });
  const asking = [0, 0, 1].map((second) => transport.caaIdentities(at(second)));
  expect(await Promise.all(asking)).toEqual([['ca.example'], ['ca.example'], ['ca.example']]);
  expect(state.asked).toBe(1);
});

test('after the clock is set back, an authority that could not be reached is asked again at once', async () => {
  const { state, transport } = authority({ caaIdentities: ['ca.example'] });
  state.isAway = true;
  await transport.caaIdentities(at(3600));
  state.isAway = false;
  expect(await transport.caaIdentities(at(0))).toEqual(['ca.example']);
});
