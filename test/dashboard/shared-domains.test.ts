import { beforeEach, describe, expect, test } from '@jest/globals';
import { sharedPageLimits } from '../../src/access/domain/session.ts';
import { DomainsKey, SitesKey } from '../../src/app/keys.ts';
import type { CustomDomain } from '../../src/domains/domain/attachment/custom-domain.ts';
import { browseDashboard } from '../support/dashboard/dashboard-page.ts';
import { everythingStored } from '../support/dashboard/database.ts';
import { pointAtUs, fill } from '../support/dashboard/filling.ts';
import { elementsIn } from '../support/dashboard/markup.ts';
import type { PageAnswer } from '../support/dashboard/visitor.ts';

let slug: string;
let domain: CustomDomain;
let other: CustomDomain;
const browsed = browseDashboard(async ({ dashboard, owner }) => {
  slug = await fill(dashboard, owner, 'birds.test');
  other = await added('other.birds.test');
});

const domains = () => browsed.dashboard.container.get(DomainsKey);
const added = async (host: string): Promise<CustomDomain> => {
  const { project } = await browsed.dashboard.container.get(SitesKey).getSite(slug);
  return domains().addDomain(project, host);
};

let hosts = 0;
let link: string;
beforeEach(async () => {
  domain = await added(`shared-${(hosts += 1)}.birds.test`);
  link = `/dashboard/shared-domain/${(await domains().makeShare(domain)).secret}`;
});

const own = () => `/dashboard/projects/${slug}/settings/domains/${domain.host}`;
const ask = (path = link): Promise<PageAnswer> => browsed.dashboard.stranger().get(path);

describe('the page behind a shared link', () => {
  test('shows the records, problems and state of its domain, and nothing else of the account', async () => {
    browsed.dashboard.dns.tell(domain.host, {});
    await domains().verifyDomain(domain);
    const { status, text } = await ask();
    expect(status).toBe(200);
    for (const word of [domain.host, domain.token, 'added, awaiting DNS', 'dns_not_found'])
      expect(text).toContain(word);
    const { accountId, email } = browsed.owner;
    const foreign = [accountId, domain.projectId, domain.id, email, 'Zoo', slug, 'alert(1)'];
    for (const word of [...foreign, other.host, other.token, 'www.birds.test', 'share_'])
      expect(text).not.toContain(word);
    expect(elementsIn(text, 'form')).toEqual([]);
    const links = elementsIn(text, 'a').map(({ attributes }) => attributes['href']);
    expect(links).toEqual(['#main', '/dashboard', '']);
  });

  test('looks the same to people of the account, and shows nothing of their session', async () => {
    const withoutTimes = ({ text }: PageAnswer) => text.replaceAll(/<time [^]*?<\/time>/g, '');
    expect(withoutTimes(await browsed.owner.visitor.get(link))).toBe(withoutTimes(await ask()));
  });

  test('is not indexed, cached or framed by other sites', async () => {
    for (const path of [link, '/dashboard/shared-domain/made-up']) {
      const { headers } = await ask(path);
      expect(Object.fromEntries(headers)).toMatchObject({
        'x-robots-tag': 'noindex, nofollow, noarchive',
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-store',
      });
      expect(headers.getSetCookie()).toEqual([]);
    }
    const { text } = await ask();
    expect(text).toContain('<meta name="robots" content="noindex, nofollow, noarchive">');
    expect(text).toContain('<meta name="referrer" content="no-referrer">');
  });

  test('gives the same answer for every link that does not work', async () => {
    const { secret, id } = await domains().makeShare(domain);
    await domains().revokeShare(domain, id);
    const paths = [secret, secret.slice(1), 'x', 'x'.repeat(4000), '%00', `${secret}%2F`];
    const answers = await Promise.all(paths.map((one) => ask(`/dashboard/shared-domain/${one}`)));
    expect(answers.map(({ status }) => status)).toEqual(paths.map(() => 404));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    await domains().removeDomain(domain);
    expect((await ask()).text).toBe(answers[0]?.text);
  });

  test('keeps its secret out of the log', async () => {
    await ask();
    await ask(`${link}x`);
    const secret = link.replace(/.*\//, '');
    expect(browsed.dashboard.log.filter((line) => line.includes('shared-domain'))).not.toEqual([]);
    expect(browsed.dashboard.log.filter((line) => line.includes(secret))).toEqual([]);
  });
});

test('the secret of a link is not stored', () => {
  const stored = JSON.stringify(everythingStored(browsed.dashboard.databaseUrl), withoutBigints);
  expect(stored).toContain(domain.id);
  expect(stored).not.toContain(link.replace(/.*\//, ''));
});

const withoutBigints = (_: string, value: unknown): unknown =>
  typeof value === 'bigint' ? String(value) : value;

describe("the domain's owner", () => {
  test('creates only one link with a form that is sent twice, and the audit log shows both steps', async () => {
    const { text } = await browsed.owner.visitor.get(own());
    const once = /links"[^]*?name="once" value="([^"]*)"/.exec(text)?.[1] ?? '';
    const answers = [];
    for (let n = 0; n < 2; n++) {
      answers.push(await browsed.owner.visitor.post(`${own()}/links`, { once }));
    }
    expect(answers.map(({ status }) => status)).toEqual([201, 303]);
    expect(await domains().listShares(domain)).toHaveLength(2);
    const [newest] = await domains().listShares(domain);
    await browsed.owner.visitor.post(`${own()}/links/${newest?.id ?? ''}/revoke`);
    const { text: log } = await browsed.owner.visitor.get('/dashboard/account/audit');
    expect(log).toContain(`Created a link to the DNS records of ${domain.host}`);
    expect(log).toContain(`Revoked a link to the DNS records of ${domain.host}`);
  });

  test('is told beside the form that a domain has the maximum number of links', async () => {
    for (let n = 0; n < 4; n++) await domains().makeShare(domain);
    const { text } = await browsed.owner.visitor.get(own());
    expect(text).toContain('This domain has');
    expect(text).not.toContain('Create link');
    const late = await browsed.owner.visitor.post(`${own()}/links`, { once: 'form_123456789' });
    expect(late.status).toBe(422);
    expect(late.text).toContain('has 5 links already');
  });
});

describe('the person who manages the DNS', () => {
  test('copies a record, and sees automatically when it is found', async () => {
    const page = await browsed.visit(link, { cookie: undefined, width: 390 });
    await page.stopClock(browsed.dashboard.clock.now());
    await page.raw.reload();
    const copy = page.css('[title="Copy the value of the CNAME record"]');
    await copy.click();
    await page.words('Copied').isShown();
    pointAtUs(browsed.dashboard, domain);
    await domains().verifyDomain(domain);
    await page.passTime(10_000);
    await page.exactly('verified').isShown();
    await domains().removeDomain(domain);
    await page.passTime(10_000);
    await page.words('no longer works').isShown();
  });

  test('can read everything without scripts, on a page that reloads every minute', async () => {
    const { text } = await ask();
    expect(text).toContain('<noscript><meta http-equiv="refresh" content="60"></noscript>');
    expect(text).toContain('<noscript><a class="button" href="">Look again</a></noscript>');
  });
});

// Runs last, because it uses up the limit of this network.
test('a network can open only a limited number of these pages a minute, whether their links work or not', async () => {
  const statuses: number[] = [];
  for (let n = 0; n <= sharedPageLimits.perMinute; n++) {
    const path = n % 2 === 0 ? link : '/dashboard/shared-domain/made-up';
    const { status, headers } = await browsed.dashboard.stranger().get(path);
    statuses.push(status);
    if (status === 429) expect(Number(headers.get('Retry-After'))).toBeGreaterThan(0);
  }
  expect(statuses.at(-1)).toBe(429);
});
