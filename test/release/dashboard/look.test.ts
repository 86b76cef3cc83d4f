import { describe, expect, test } from '@jest/globals';
import type { TestPage } from '../../support/dashboard/page.ts';
import { AccessKey, DomainsKey, SitesKey, WebhookCallsKey } from '../../../src/app/keys.ts';
import { Sealer } from '../../../src/kernel/ports.ts';
import { unsubscribeToken } from '../../../src/notifications/use-cases/mail.ts';
import { axe, axeFaults, unfoldForAxe } from '../../support/dashboard/crawl.ts';
import { browseDashboard, type BrowsedDashboard } from '../../support/dashboard/dashboard-page.ts';
import { fill } from '../../support/dashboard/filling.ts';
import { until } from '../../support/until.ts';

/** Every page, with content. PROJECT and WEBHOOK have data of every kind. */
const pages = {
  projects: '/dashboard',
  'a project': 'PROJECT',
  'a project without a deploy': '/dashboard/projects/not-published-yet',
  domains: 'PROJECT/settings/domains',
  'domains that are removed': 'PROJECT/settings/domains?state=removed',
  'the removal of several domains': 'PROJECT/settings/remove-domains?domain=www.birds.test',
  redirects: 'PROJECT/settings/redirects',
  'a redirect that is edited': 'PROJECT/settings/redirects?edit=shop.birds.test',
  'search results': '/dashboard/search?q=birds',
  'an empty search result': '/dashboard/search?q=nowhere',
  'help about domains': '/dashboard/help/domains',
  'no domains yet': '/dashboard/projects/not-published-yet/settings/domains',
  'a live domain': 'PROJECT/settings/domains/www.birds.test',
  'a domain whose DNS is wrong': 'PROJECT/settings/domains/wrong.birds.test',
  'a domain that was never checked': 'PROJECT/settings/domains/birds.test',
  'a removed domain': 'PROJECT/settings/domains/gone.birds.test',
  'the removal of a domain': 'PROJECT/settings/domains/www.birds.test/remove',
  'API keys': '/dashboard/keys',
  webhooks: '/dashboard/webhooks',
  'a webhook': 'WEBHOOK',
  'usage by the hour': '/dashboard/usage',
  'usage by the day': '/dashboard/usage?range=30d',
  animals: '/dashboard/animals',
  'animals that are sold': '/dashboard/animals?status=sold',
  'an animal': '/dashboard/animals/2',
  'a sold animal': '/dashboard/animals/53',
  'the import of animals': '/dashboard/animals/import',
  orders: '/dashboard/orders',
  'an order': '/dashboard/orders/1',
  account: '/dashboard/account',
  people: '/dashboard/account/people',
  'your profile': '/dashboard/me',
  'the second factor': '/dashboard/me/second-factor',
  'an authenticator app': '/dashboard/me/second-factor/app',
  'the confirmation': '/dashboard/confirm',
  'the choice of a new password': '/dashboard/account/new-password',
  notices: '/dashboard/notices?since=3',
  'the choice of an account': '/dashboard/accounts',
  'a missing page': '/dashboard/nowhere',
} as const;

let page: TestPage;
let project: string;
let webhook: string;
const browsed = browseDashboard(
  async (all) => {
    project = `/dashboard/projects/${await fill(all.dashboard, all.owner, 'birds.test')}`;
    webhook = await pathOfWebhook(all);
    page = await all.visit('/dashboard');
    await page.raw.evaluateOnNewDocument(axe);
  },
  { keepsPages: true, settings: { SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'a@zoo.example' } },
);

const pathOfWebhook = async ({ dashboard, owner }: BrowsedDashboard): Promise<string> => {
  const all = await dashboard.container.get(WebhookCallsKey).listWebhooks(owner.accountId);
  const failing = all.find(({ address }) => address.includes('failing'));
  return `/dashboard/webhooks/${failing?.id ?? ''}`;
};

const urlOf = (path: string): string =>
  browsed.dashboard.origin + path.replace('PROJECT', project).replace('WEBHOOK', webhook);

/** Whether the page, or on a desktop a table, scrolls sideways and hides its buttons. */
const overflows = (width: number): Promise<boolean> => {
  const inner = width > 1000 ? ", ...document.querySelectorAll('.table')" : '';
  return page.evaluate(
    `[document.documentElement${inner}].some((one) => one.scrollWidth > one.clientWidth)`,
  );
};

/** All rules on a desktop and a phone. Light and dark mode differ only in colours. */
const looksWell = async (): Promise<void> => {
  await unfoldForAxe(page);
  for (const [width, first, second] of [
    [1280, 'light', 'dark'],
    [390, 'dark', 'light'],
  ] as const) {
    await page.show({ width, theme: first });
    await until('the page is so wide', async () => (await page.evaluate('innerWidth')) === width);
    expect({ width, overflows: await overflows(width) }).toEqual({ width, overflows: false });
    expect({ width, first, faults: await axeFaults(page) }).toEqual({ width, first, faults: [] });
    await page.show({ width, theme: second });
    const faults = await axeFaults(page, 'color-contrast');
    expect({ width, second, faults }).toEqual({ width, second, faults: [] });
  }
};

describe.each(Object.entries(pages))('%s', (_, path) => {
  test('is accessible on a desktop and a phone, in light and dark mode', async () => {
    await page.goto(urlOf(path));
    await looksWell();
  });
});

test('the results of forms, and refused forms, are accessible too', async () => {
  await page.goto(urlOf('/dashboard/keys'));
  await page.label('Key name').fill('Till');
  await page.role('button', 'Create key').click();
  await page.words('It is not shown again').isShown();
  await looksWell();
  await page.goto(urlOf('WEBHOOK'));
  await page.role('button', 'Rotate secret').click();
  await page.words('It is not shown again').isShown();
  await looksWell();
  await page.goto(urlOf('/dashboard/webhooks'));
  await page.label('Address').fill('https://10.0.0.1/');
  await page.role('button', 'Add webhook').click();
  await page.css('[aria-invalid]').isShown();
  await looksWell();
  await page.goto(urlOf('/dashboard/me'));
  await page.role('button', 'New link').click();
  await page.words('/dashboard/sign-in/').isShown();
  await looksWell();
  await page.goto(urlOf('PROJECT/settings/domains'));
  await page.label('Domain').fill('localhost');
  await page.role('button', 'Add domain').click();
  await page.css('[aria-invalid]').isShown();
  await looksWell();
});

test.each([
  ...['/dashboard/sign-in', '/dashboard/sign-in/made-up'],
  ...['/dashboard/forgot-password', '/dashboard/sign-in-link'],
  ...['UNSUBSCRIBE', '/dashboard/unsubscribe?token=made-up'],
  ...['SHARED www.birds.test', 'SHARED wrong.birds.test', 'SHARED birds.test'],
  '/dashboard/shared-domain/made-up',
])('%s is accessible too', async (path) => {
  const host = /^SHARED (.*)/.exec(path)?.[1];
  const url =
    host === undefined
      ? path.replace('UNSUBSCRIBE', await unsubscribePath())
      : await sharedPathOf(host);
  page = await browsed.visit(url, { cookie: undefined });
  await looksWell();
});

/** A link of the owner to one of their domains. */
const sharedPathOf = async (host: string): Promise<string> => {
  const { container } = browsed.dashboard;
  const slug = project.replace('/dashboard/projects/', '');
  const site = await container.get(SitesKey).getSite(slug);
  const domains = container.get(DomainsKey);
  const share = await domains.makeShare(await domains.getDomain(site.project.id, host));
  return `/dashboard/shared-domain/${share.secret}`;
};

const unsubscribePath = async (): Promise<string> => {
  const { container } = browsed.dashboard;
  const [person] = await container.get(AccessKey).listPeople(browsed.owner.accountId);
  const token = unsubscribeToken({ sealer: container.get(Sealer) }, person!.id, ['domain.live']);
  return `/dashboard/unsubscribe?token=${token}`;
};

test('every step of getting a link by mail is accessible', async () => {
  const { email } = browsed.owner;
  page = await browsed.visit('/dashboard/forgot-password', { cookie: undefined });
  await page.label('Email').fill('keeper');
  await page.evaluate("document.querySelector('main form').noValidate = true");
  await page.role('button', 'Send the link').click();
  await page.css('[aria-invalid]').isShown();
  await looksWell();
  await page.label('Email').fill(email);
  await page.role('button', 'Send the link').click();
  await page.role('heading', 'Check your mail').isShown();
  await looksWell();
  await page.goto(`${urlOf(await browsed.dashboard.linkFor(email))}?by=mail`);
  await page.role('heading', /^Sign in to /).isShown();
  await looksWell();
  await page.goto(urlOf(await unsubscribePath()));
  await page.role('button', 'Unsubscribe').click();
  await page.role('heading', 'You are unsubscribed').isShown();
  await looksWell();
});

test('the confirmation before a link signs in is accessible too', async () => {
  const { dashboard, owner } = browsed;
  const { cookie } = await dashboard.signIn(owner.email);
  page = await browsed.visit(await dashboard.linkFor(owner.email), { cookie });
  await page.role('heading', /^Sign in to /).isShown();
  await looksWell();
});
