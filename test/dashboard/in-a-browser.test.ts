import { beforeAll, describe, expect, test } from '@jest/globals';
import { UsageLog } from '../../src/access/ports.ts';
import { largestInt64 } from '../../src/catalogue/domain/pet.ts';
import { AccessKey, CatalogueKey, DomainsKey, SitesKey } from '../../src/app/keys.ts';
import { axe, axeFaults, unfoldForAxe } from '../support/dashboard/crawl.ts';
import { startBrowser, type TestBrowser } from '../support/dashboard/browser.ts';
import { browseDashboard } from '../support/dashboard/dashboard-page.ts';
import { fill } from '../support/dashboard/filling.ts';
import type { TestPage } from '../support/dashboard/page.ts';
import { deployEntries } from '../support/sites/deploy-entries.ts';
import { entry } from '../support/sites/sites.ts';
import { until } from '../support/until.ts';

const wanted = 'seven quiet tortoises';
let project: string;
let cookie: string | undefined;
const browsed = browseDashboard(async ({ dashboard, owner }) => {
  project = `/dashboard/projects/${await fill(dashboard, owner, 'birds.test')}`;
  await owner.visitor.post('/dashboard/me/password', { wanted });
  const visitor = dashboard.stranger();
  await visitor.post('/dashboard/sign-in', { email: owner.email, password: wanted });
  ({ cookie } = visitor);
});

const focused = (page: TestPage): Promise<string> =>
  page.evaluate(`(({ ariaLabel, innerText, labels, tagName }) =>
    (ariaLabel ?? labels?.[0]?.innerText ?? innerText ?? tagName).trim())(document.activeElement)`);

const tabTo = async (page: TestPage, name: string): Promise<number> => {
  for (let times = 1; times <= 150; times++) {
    await page.press('Tab');
    if ((await focused(page)) === name) return times;
  }
  throw new Error(`Tab does not lead to ${name}`);
};

const isAccessible = async (page: TestPage): Promise<void> => {
  await unfoldForAxe(page);
  const { url } = page;
  expect({ url, faults: await axeFaults(page) }).toEqual({ url, faults: [] });
};

test('the pages with the most content are accessible', async () => {
  const page = await browsed.visit('/dashboard');
  await isAccessible(page);
  const domains = `${project}/settings/domains`;
  for (const path of [project, `${domains}/www.birds.test`, '/dashboard/animals']) {
    await page.goto(browsed.dashboard.origin + path);
    await isAccessible(page);
  }
  await isAccessible(await browsed.visit('/dashboard/sign-in', { cookie: undefined }));
});

test('the first link on a page skips the navigation', async () => {
  const page = await browsed.visit('/dashboard');
  await page.press('Tab');
  expect(await focused(page)).toBe('Skip to content');
  await page.css('.skip').isShown();
  await page.press('Enter');
  await page.press('Tab');
  expect(await page.evaluate("document.activeElement.closest('main') !== null")).toBe(true);
});

test('the keyboard reaches every section, and the current one is marked', async () => {
  const page = await browsed.visit('/dashboard');
  for (const name of ['Animals', 'API keys', 'Usage', 'Account', 'Projects']) {
    await tabTo(page, name);
    await page.press('Enter');
    const current = page.role('navigation', 'Main').css('[aria-current=page]');
    await current.exactly(name).isShown();
  }
});

test('a domain can be removed with the keyboard', async () => {
  const page = await browsed.visit(`${project}/settings/domains`);
  const item = page.role('menuitem', 'Remove');
  const focusedItem = page.css('[role=menuitem]:focus');
  await tabTo(page, 'Actions for shop.birds.test');
  await page.press('Enter');
  await focusedItem.isShown();
  await page.press('Escape');
  await item.isGone();
  expect(await focused(page)).toBe('Actions for shop.birds.test');
  await page.press('Enter');
  await focusedItem.isShown();
  await page.press('End');
  await page.press('Enter');
  await page.isAt(/\/domains\/dom_\w+\/remove$/);
  await tabTo(page, 'Remove domain');
  await page.press('Enter');
  await page.role('status').words('The domain is removed').isShown();
});

test('a confirmation that was opened from a menu returns the focus to the menu, and the menu to its button', async () => {
  const page = await browsed.visit('/dashboard/keys');
  const item = page.css('[role=menuitem]:focus');
  await page.css('.menu-button').focus();
  await page.press('Enter');
  await item.exactly('Rotate').isShown();
  await page.press('Enter');
  await page.css('.dialog :focus').exactly('Keep').isShown();
  await page.press('Enter');
  await item.exactly('Rotate').isShown();
  await page.press('Enter');
  await page.css('.dialog :focus').exactly('Keep').isShown();
  await page.press('Escape');
  await item.exactly('Rotate').isShown();
  await page.press('Escape');
  await page.css('.menu-button:focus').isShown();
});

test('the focus is always visible', async () => {
  const page = await browsed.visit(`${project}/settings/domains`);
  const seen: string[] = [];
  for (;;) {
    await page.press('Tab');
    if (await page.evaluate('document.activeElement === document.body')) break;
    const look = await page.evaluate<readonly [outline: string, shadow: string]>(
      '(({ outlineStyle, boxShadow }) => [outlineStyle, boxShadow])(getComputedStyle(document.activeElement))',
    );
    const name = await focused(page);
    expect([name, look]).not.toEqual([name, ['none', 'none']]);
    seen.push(name);
  }
  expect(seen.length).toBeGreaterThan(30);
  expect(seen).toEqual(
    expect.arrayContaining(['Add domain', 'Verify', 'Help', 'Your menu', 'Projects', 'Redirects']),
  );
});

const seen = async (page: TestPage) => {
  await until('something has the focus', () =>
    page.look<boolean>('document.activeElement !== document.body'),
  );
  return page.evaluate(`(() => {
    const isInView = (one) => {
      const { top, bottom } = one.getBoundingClientRect();
      return top >= 0 && bottom <= innerHeight;
    };
    const { activeElement: focused } = document;
    const message = document.querySelector('[data-refusal]');
    return { focus: focused.name || focused.textContent, isInView: isInView(focused) && isInView(message) };
  })()`);
};

const looks = [{ width: 1280 }, { width: 390 }] as const;

test('a password that is too short gets the focus', async () => {
  const page = await browsed.visit('/dashboard/me', { width: 390 });
  await page.label('Current password').fill(wanted);
  await page.label('New password').fill('short');
  await page.role('button', 'Save password').click();
  await page.css('[data-refusal]').isShown();
  expect(await seen(page)).toEqual({ focus: 'wanted', isInView: true });
});

test.each(looks)('the scopes get the focus when a key has none, on %j', async (look) => {
  const page = await browsed.visit('/dashboard/keys', look);
  await page.label('Key name').fill('Till');
  await page.css('main input:checked').clickAll();
  await page.role('button', 'Create key').click();
  await page.css('[data-refusal]').isShown();
  expect(await seen(page)).toEqual({ focus: 'scopes', isInView: true });
});

test.each([
  ['the current password', 'current', { current: 'another one', wanted: 'three slow tortoises' }],
  ['the new password', 'wanted', { current: wanted, wanted: 'password12345' }],
])('if %s is wrong, its field gets the focus', async (_, focus, typed) => {
  const page = await browsed.visit('/dashboard/me', { cookie, width: 390 });
  await page.label('Current password').fill(typed.current);
  await page.label('New password').fill(typed.wanted);
  await page.role('button', 'Save password').click();
  await page.css('[data-refusal]').isShown();
  expect(await seen(page)).toEqual({ focus, isInView: true });
});

test('a message about the whole form takes the focus', async () => {
  const { dashboard, owner } = browsed;
  const catalogue = dashboard.container.get(CatalogueKey);
  const rex = { name: 'Rex', categoryId: 7n, status: 'available' } as const;
  const { id } = await catalogue.createPet(owner.accountId, rex);
  const page = await browsed.visit(`/dashboard/animals/${id}`, { width: 390 });
  await catalogue.placeOrder(owner.accountId, id);
  await page.role('button', /^Reserve/).click();
  await page.css('[data-refusal]').isShown();
  const focus = expect.stringMatching(/is sold and cannot/);
  expect(await seen(page)).toEqual({ focus, isInView: true });
});

describe('how a page looks', () => {
  const long = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.test`;
  let its: string | undefined;
  let itsProject: string;
  beforeAll(async () => {
    const { dashboard } = browsed;
    const { container } = dashboard;
    const owner = await dashboard.newOwner({ name: 'The Happy Paws Pet Store of Little Rock' });
    const project = await container.get(SitesKey).startProject(owner.accountId, 'Long names');
    await deployEntries(container, project, entry('index.html'));
    const domains = container.get(DomainsKey);
    itsProject = project.id;
    await domains.addDomain(project, long);
    const redirect = { from: long, to: 'https://elsewhere.test/shop', status: 308 } as const;
    await domains.changeDomainSettings(project.id, { primary: null, redirects: [redirect] });
    await addLongNames(owner.accountId);
    its = owner.visitor.cookie;
  });

  const addLongNames = async (accountId: string): Promise<void> => {
    const { container } = browsed.dashboard;
    const name = 'W'.repeat(100);
    const { id: projectId } = await container.get(SitesKey).startProject(accountId, name);
    const scopes = ['deploys:write'] as const;
    const keys = container.get(AccessKey);
    const key = await keys.createApiKey({ accountId, name, scopes, projectId });
    const calls = { operation: 'listPets', outcome: '4xx', requests: 1 } as const;
    const hour = browsed.dashboard.clock.now();
    await container.get(UsageLog).add([{ accountId, keyId: key.id, hour, ...calls }], new Map());
    const animal = { name, categoryId: largestInt64, status: 'available' } as const;
    const { id } = await container.get(CatalogueKey).createPet(accountId, animal);
    await container.get(CatalogueKey).placeOrder(accountId, id);
  };

  const open = (path: string, width: number) => browsed.visit(path, { width, cookie: its });
  const settings = '/dashboard/projects/long-names/settings';
  const domains = `${settings}/domains`;

  test.each([1280, 390])(
    'a name with labels of 63 characters fits into %d pixels',
    async (width) => {
      const one = `${domains}/${long}`;
      for (const path of [domains, one, `${one}/remove`, `${settings}/redirects`]) {
        const page = await open(path, width);
        expect([path, await tooWide(page)]).toEqual([path, []]);
      }
    },
  );

  test.each([1280, 390])('names of 100 wide letters fit into %d pixels', async (width) => {
    const lists = ['animals', 'orders', 'keys', 'usage', 'account/audit', 'search?q=w'];
    for (const path of [...lists, `projects/${'w'.repeat(48)}/settings`]) {
      const page = await open(`/dashboard/${path}`, width);
      expect([path, await tooWide(page)]).toEqual([path, []]);
    }
  });

  test.each([
    ['beside the navigation of a small window', 970, 'screen'],
    ['on paper', 718, 'print'],
  ] as const)('no list hides a part of its rows %s', async (_, width, media) => {
    for (const path of [`${project}/settings/domains`, '/dashboard/keys']) {
      const page = await browsed.visit(path, { width });
      await page.raw.emulateMediaType(media);
      expect([path, await tooWide(page)]).toEqual([path, []]);
    }
  });

  const tooWide = (page: TestPage) =>
    page.evaluate(
      `[document.documentElement, ...document.querySelectorAll('.table, main > *')]
        .filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.outerHTML.slice(0, 80))`,
    );

  test('the steps of a shared domain break no word on a phone of 320 pixels', async () => {
    const domains = browsed.dashboard.container.get(DomainsKey);
    const [shared] = await domains.listDomains(itsProject);
    const { secret } = await domains.makeShare(shared!);
    const page = await open(`/dashboard/shared-domain/${secret}`, 320);
    const lines = `[...document.querySelectorAll('.steps li > span')].map(({ firstChild }) => {
      const words = document.createRange();
      words.selectNodeContents(firstChild);
      return words.getClientRects().length;
    })`;
    expect(await page.evaluate(lines)).toEqual([1, 1, 1, 1]);
  });

  test('a pressed button shows that it is working', async () => {
    const page = await open(domains, 1280);
    await page.evaluate(`(() => {
      document.querySelector('#domain').value = 'parrots.test';
      document.addEventListener('submit', (event) => event.preventDefault());
      document.querySelector('button.main').click();
    })()`);
    const button = `getComputedStyle(document.querySelector('button.main'), '::after')`;
    expect(await page.evaluate(`${button}.content`)).toContain('…');
  });

  test.each([
    ['main button.main', domains],
    ['main .menu-button', domains],
    ['main button.danger', `${domains}/${long}/remove`],
  ])('the words of the button %s stay readable under the mouse', async (button, path) => {
    const page = await open(path, 1280);
    await page.raw.hover(button);
    await page.evaluate(axe);
    expect(await axeFaults(page, 'color-contrast')).toEqual([]);
  });

  test('high contrast shows which section, tab and filter is the current one', async () => {
    const page = await browsed.visit(`${project}/settings/domains`);
    const session = await page.raw.createCDPSession();
    const features = [{ name: 'forced-colors', value: 'active' }];
    await session.send('Emulation.setEmulatedMedia', { features });
    const unmarked = await page.evaluate(`['.side', '.tabs', '.choice'].filter((nav) => {
      const [own, other] = ['a[aria-current]', 'a:not([aria-current])'].map(
        (one) => getComputedStyle(document.querySelector(nav + ' ' + one)).color);
      return own === other;
    })`);
    expect(unmarked).toEqual([]);
  });

  test('pages print without their navigation and buttons', async () => {
    const page = await open(domains, 1280);
    const hidden = await page.evaluate(`(() => {
      const rules = [...document.styleSheets].flatMap(({ cssRules }) => [...cssRules]);
      const print = rules.filter(({ media }) => media?.mediaText === 'print').flatMap(({ cssRules }) => [...cssRules]);
      const hides = print.filter(({ style }) => style.display === 'none').map((one) => one.selectorText);
      const isHidden = (one) => hides.some((selector) => one.closest(selector));
      return [...document.querySelectorAll('header, nav, button')].filter((one) => !isHidden(one)).length;
    })()`);
    expect(hidden).toBe(0);
  });

  test('a printed list has its cells below their headings, and cuts no name', async () => {
    const page = await browsed.visit(`${project}/settings/domains`);
    await page.raw.emulateMediaType('print');
    const [headings, cells] = await page.evaluate<readonly (readonly number[])[]>(
      `['thead tr', 'tbody tr'].map((row) =>
        [...document.querySelector(row).cells].map((one) => one.getBoundingClientRect().left))`,
    );
    expect(cells).toEqual(headings);
    const narrow = await open(domains, 1280);
    await narrow.raw.emulateMediaType('print');
    const cut = `[...document.querySelectorAll('.rows div')]
      .filter((one) => one.scrollHeight > one.clientHeight).length`;
    expect(await narrow.evaluate(cut)).toBe(0);
  });
});

// Without these tests, the other tests here would prove nothing.
describe('the browser of the tests', () => {
  let browser: TestBrowser;
  beforeAll(async () => {
    browser = await startBrowser(browsed.dashboard.origin);
  });

  const faults = [
    ['calls another host', "fetch('http://127.0.0.1:1/').catch(() => 0)", 'console', 'connect-src'],
    [
      'leads elsewhere',
      "setTimeout(() => { location.href = 'http://127.0.0.1:1/'; })",
      'request',
      'asked http://127.0.0.1:1',
    ],
    ['fails', "setTimeout(() => { throw new Error('too late'); })", 'pageerror', 'too late'],
    ['interrupts the visitor', "setTimeout(() => alert('who are you'))", 'dialog', 'who are you'],
    ['misses a picture', "document.images[0].src = '/dashboard/x'", 'console', '404'],
  ] as const;

  test.each(faults)('reports a page that %s', async (_, act, event, said) => {
    const page = await browser.open();
    await page.goto(`${browsed.dashboard.origin}/dashboard/sign-in`);
    const shown = page.happens(event);
    await page.evaluate(`(() => { ${act}; })()`);
    await shown;
    await expect(browser.closePages()).rejects.toThrow(said);
  });

  test('ignores a page that is refused on purpose', async () => {
    const page = await browser.open();
    await page.goto(`${browsed.dashboard.origin}/dashboard/nowhere`);
    await page.goto(`${browsed.dashboard.origin}/dashboard/sign-in/made-up#x`);
    await browser.closePages();
  });

  test('reports a page that crashes', async () => {
    const page = await browser.open();
    const crashed = page.happens('error');
    page.goto('chrome://crash').catch(() => undefined);
    await crashed;
    await expect(browser.closePages()).rejects.toThrow('crashed');
  });
});
