import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { AccessKey } from '../../src/app/keys.ts';
import { browserStartMs, startBrowser, type TestBrowser } from '../support/dashboard/browser.ts';
import type { TestPage } from '../support/dashboard/page.ts';
import { type RunningDashboard, startDashboard } from '../support/dashboard/running-dashboard.ts';

let dashboard: RunningDashboard;
let browser: TestBrowser;
let origin: string;
beforeAll(async () => {
  dashboard = await startDashboard();
  // Passkeys need a host name, and the dashboard is at an IP address.
  origin = dashboard.origin.replace('127.0.0.1', 'localhost');
  browser = await startBrowser(origin);
}, browserStartMs);
afterEach(() => browser.closePages());
afterAll(() => dashboard.close());

/** A page with an authenticator that confirms everything. */
const withAuthenticator = async (cookie: string | undefined): Promise<TestPage> => {
  const page = await browser.open({ cookie });
  const cdp = await page.raw.createCDPSession();
  await cdp.send('WebAuthn.enable');
  await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return page;
};

const password = 'four words do well here';
const newOwner = async () => {
  const owner = await dashboard.newOwner();
  await owner.visitor.post('/dashboard/me/password', { wanted: password });
  return owner;
};

const addPasskey = async (page: TestPage): Promise<void> => {
  await page.goto(`${origin}/dashboard/me/second-factor`);
  await page.label('Name of the passkey').fill('Laptop');
  await page.role('button', 'Add a passkey').click();
  await page.words('Your recovery codes').isShown();
};

const signOut = (page: TestPage): Promise<void> =>
  page.raw.browserContext().deleteMatchingCookies({ name: 'session' });

const enterPassword = async (page: TestPage, email: string): Promise<void> => {
  dashboard.clock.advance(60_000);
  await page.goto(`${origin}/dashboard/sign-in`);
  await page.label('Email').fill(email);
  await page.label('Password').fill(password);
  await page.role('button', 'Sign in').click();
  await page.role('heading', 'Second factor').isShown();
};

test('a person can add a passkey, and sign in with it after the password', async () => {
  const { email, visitor } = await newOwner();
  const page = await withAuthenticator(visitor.cookie);
  await addPasskey(page);
  await page.goto(`${origin}/dashboard/me/second-factor`);
  await page.words('Laptop').isShown();
  await signOut(page);
  await enterPassword(page, email);
  await page.role('button', 'Use a passkey').click();
  await page.role('heading', 'Projects').isShown();
});

test('a device that has a passkey of the person already is told so', async () => {
  const { visitor } = await newOwner();
  const page = await withAuthenticator(visitor.cookie);
  await addPasskey(page);
  await page.goto(`${origin}/dashboard/me/second-factor`);
  await page.label('Name of the passkey').fill('Laptop again');
  await page.role('button', 'Add a passkey').click();
  await page.role('alert').words('This device already has one of your passkeys.').isShown();
});

test('an answer to a challenge works once, in its own session', async () => {
  const { email, visitor } = await newOwner();
  const page = await withAuthenticator(visitor.cookie);
  await addPasskey(page);
  await signOut(page);
  await enterPassword(page, email);
  await page.evaluate(
    "document.querySelector('form[data-passkey]').addEventListener('submit', ({ target }) => sessionStorage.setItem('shown', target.elements.shown.value))",
  );
  await page.role('button', 'Use a passkey').click();
  await page.role('heading', 'Projects').isShown();
  const answer = await page.evaluate<string>("sessionStorage.getItem('shown')");
  expect(JSON.parse(answer)).toMatchObject({ type: 'public-key' });
  const { value } = (await page.raw.browserContext().cookies()).find(
    ({ name }) => name === 'session',
  )!;
  const replay = dashboard.stranger();
  replay.cookie = `session=${value}`;
  expect((await replay.post('/dashboard/confirm', { shown: answer })).status).toBe(422);
  dashboard.clock.advance(60_000);
  const other = dashboard.stranger();
  await other.post('/dashboard/sign-in', { email, password });
  expect((await other.post('/dashboard/second-factor', { shown: answer })).status).toBe(422);
  expect((await other.get('/dashboard')).status).toBe(303);
});

test("another person's passkey is refused", async () => {
  const [mia, eve] = [await newOwner(), await newOwner()];
  const page = await withAuthenticator(eve.visitor.cookie);
  await addPasskey(page);
  const access = dashboard.container.get(AccessKey);
  const [hers] = await access.listPeople(mia.accountId);
  const signedIn = (await access.findSession(mia.visitor.cookie?.split('=')[1] ?? ''))!;
  expect(await access.passkeyOptions(signedIn, 'show')).toBeUndefined();
  const own = (await access.findSession(eve.visitor.cookie?.split('=')[1] ?? ''))!;
  const options = (await access.passkeyOptions(own, 'show'))!;
  const answer = await page.evaluate<string>(answerScript(options));
  const refused = access.prove(signedIn, { kind: 'passkey', shown: answer });
  await expect(refused).rejects.toHaveProperty('code', 'factor_refused');
  expect(hers?.factorSince).toBeUndefined();
});

test('a new passkey may use only algorithms that Node verifies without experimental code', async () => {
  const { visitor } = await newOwner();
  const access = dashboard.container.get(AccessKey);
  const signedIn = (await access.findSession(visitor.cookie?.split('=')[1] ?? ''))!;
  const options = (await access.passkeyOptions(signedIn, 'make'))!;
  expect(JSON.parse(options)).toMatchObject({
    pubKeyCredParams: [-8, -7, -257].map((alg) => ({ alg, type: 'public-key' })),
  });
});

/** Does the same as the script of the page. */
const answerScript = (options: string): string => `(async () => {
  const bytes = (text) => Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (one) => one.charCodeAt(0));
  const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
  const given = ${options};
  const allowCredentials = given.allowCredentials.map((one) => ({ ...one, id: bytes(one.id) }));
  const { id, rawId, type, response } = await navigator.credentials.get({ publicKey: { ...given, challenge: bytes(given.challenge), allowCredentials } });
  const parts = ['clientDataJSON', 'authenticatorData', 'signature'];
  return JSON.stringify({ id, rawId: text(rawId), type, response: Object.fromEntries(parts.map((part) => [part, text(response[part])])), clientExtensionResults: {} });
})()`;

test('a page opened at an IP address offers no passkeys, and links to the host name where they work', async () => {
  const { visitor } = await newOwner();
  const { text } = await visitor.get('/dashboard/me/second-factor');
  expect(text).toContain(`href="${origin}/dashboard"`);
  expect(text).toMatch(/data-passkey="make"[^>]* hidden>/);
});
