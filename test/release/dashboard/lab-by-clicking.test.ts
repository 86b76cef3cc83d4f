import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { SecureVisitor } from '../../lab/secure-visitor.ts';
import { startTryOut, type TryOut } from '../../lab/try-out.ts';
import { browserStartMs, startBrowser, type TestBrowser } from '../../support/dashboard/browser.ts';
import { ClickingOwner, press, signIn } from '../../support/dashboard/clicking-owner.ts';
import { until, within } from '../../support/until.ts';

jest.setTimeout(300_000);

let lab: TryOut;
/** For the dashboard and the page of the lab: neither may call another host. */
let browsers: readonly [TestBrowser, TestBrowser];
let cookie: string;
let visitor: SecureVisitor;
beforeAll(async () => {
  lab = await startTryOut();
  const origins = [lab.service.origin, new URL(lab.labUrl).origin] as const;
  browsers = [await startBrowser(origins[0]), await startBrowser(origins[1])];
  cookie = await signIn(lab);
  visitor = new SecureVisitor(lab.edgePort, await readFile(lab.root, 'utf8'));
}, browserStartMs);
afterAll(async () => {
  try {
    for (const browser of browsers) await browser.closePages();
  } finally {
    await lab.close();
  }
});

/** Longer than until the automatic check, a minute after Verify. */
const patienceMs = 90_000;

const openOwner = async (): Promise<ClickingOwner> =>
  new ClickingOwner(await browsers[0].open({ javaScript: true, cookie }), lab, {
    wait: (what, isShown) => within(patienceMs, what, isShown),
  });

/** Presses buttons on the page of the lab, one after the other. */
const atLab = async (...names: readonly string[]): Promise<void> => {
  const page = await browsers[1].open();
  await page.goto(lab.labUrl);
  for (const name of names) await press(page, name);
  await browsers[1].closePages();
};

/** The authorities' names on the page of the lab. */
const authorities = async (): Promise<readonly string[]> => {
  const text = await (await fetch(lab.labUrl)).text();
  return text.match(/(?<=<p>)127\.0\.0\.1:\d+(?=<\/p>)/g) ?? [];
};

test('in the lab, a user can click through DNS validation that CAA requires, broken and repaired DNSSEC, and a second authority', async () => {
  const [first = '', second = ''] = await authorities();
  const owner = await openOwner();
  await owner.publish('Clicked');
  const add = (host: string) => owner.add('clicked', host);
  const goesLive = async (issuer: string) => {
    await owner.verify();
    await owner.seesState('live');
    await owner.seesBelow('Certificate', issuer);
  };

  await add('www.by-dns.test');
  await atLab('Create CNAME www.by-dns.test', 'Only by DNS: by-dns.test');
  await owner.verify();
  await owner.seesText('validationmethods');
  await atLab('Create CNAME _acme-challenge.www.by-dns.test', '10 minutes later');
  await goesLive(first);

  await add('www.broken.test');
  await atLab('Create CNAME www.broken.test');
  await owner.verify();
  await owner.seesText('The DNSSEC of the domain is broken');
  await atLab('DNSSEC is right', '10 minutes later');
  await goesLive(first);

  await add('www.away.test');
  await atLab('First authority: Answers 503', 'Create CNAME www.away.test');
  await owner.verify();
  await owner.seesText('The certificate authority is unavailable');
  await atLab('10 minutes later');
  await goesLive(second);
  await atLab('First authority: Works');
});

test('in the lab, a user can click through an authority that hangs and then limits us, CAA for a wildcard at the other one, and days until a renewal', async () => {
  const [first = '', second = ''] = await authorities();
  const hung = await openOwner();
  await hung.publish('Days');
  await hung.add('days', 'www.hung.test');
  // An account may order only a limited number of certificates an hour.
  await atLab('1 hour later', 'First authority: Hangs', 'Create CNAME www.hung.test');
  await hung.verify();
  await hung.seesState('verified');

  // An attempt is abandoned after half a minute, so a wildcard is added meanwhile.
  const wild = await openOwner();
  const zone = await wild.add('days', '*.zoo.test');
  expect(zone.match(/^\S+(?= \d)/gm)).toEqual(['*', '_acme-challenge']);
  const records = ['Create CNAME *.zoo.test', 'Create CNAME _acme-challenge.zoo.test'];
  await atLab(...records, 'No wildcard: zoo.test');
  await wild.verify();
  await wild.seesText('zoo.test. CAA 0 issuewild ";" (allows nobody)');
  const shared = 'Wildcards by the second authority, others by the first';
  await atLab(`${shared}: zoo.test`, '1 minute later');
  await wild.seesState('live');
  await wild.seesBelow('Certificate', second);
  for (const host of ['a.zoo.test', 'b.zoo.test']) {
    const visit = await until(`${host} is served`, () => visitor.get(host).catch(() => undefined));
    expect(visit.body).toBe('<h1>Days</h1>');
  }
  await wild.remove('days', '*.zoo.test');
  expect(await visitor.refusal('a.zoo.test')).toBeDefined();

  await hung.seesText('The certificate authority did not answer');
  await atLab('First authority: Limits us for an hour');
  const limited = wild;
  await limited.add('days', 'www.limited.test');
  await atLab('Create CNAME www.limited.test');
  await limited.verify();
  await limited.seesText('too many new orders');
  await atLab('10 minutes later');
  for (const owner of [hung, limited]) {
    await owner.seesState('live');
    await owner.seesBelow('Certificate', second);
  }

  await atLab('First authority: Works');
  const { serial } = await visitor.get('www.hung.test');
  await atLab('30 days later', '30 days later');
  const isRenewed = async () => (await visitor.get('www.hung.test')).serial !== serial;
  await until('it is renewed', isRenewed);
  await hung.signInByMail();
  await hung.open('days', 'www.hung.test');
  await hung.seesBelow('Timeline', 'Certificate renewed');
  await hung.seesText(`Certificate issued by ${first}`);
});
