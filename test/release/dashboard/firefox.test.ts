import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { CatalogueKey, SitesKey } from '../../../src/app/keys.ts';
import { browserStartMs, startBrowser, type TestBrowser } from '../../support/dashboard/browser.ts';
import { browseDashboard, type BrowsedDashboard } from '../../support/dashboard/dashboard-page.ts';
import { fill } from '../../support/dashboard/filling.ts';
import { launchBrowser } from '../../support/dashboard/launch-browser.ts';
import { mainWays } from '../../support/dashboard/main-ways.ts';
import { FirstDay } from '../../support/dashboard/new-owner.ts';
import { zipOf } from '../../support/sites/archive-bytes.ts';

const walkMainWays = (hasScripts: boolean): BrowsedDashboard => {
  const browsed = browseDashboard(() => Promise.resolve(), { isFirefox: true });
  test.each(Object.entries(mainWays))('%s', async (_, walk) => {
    const { dashboard, owner } = browsed;
    const visit = (path: string, cookie = owner.visitor.cookie) =>
      browsed.visit(path, { javaScript: hasScripts, cookie: cookie === '' ? undefined : cookie });
    await walk({ dashboard, owner, visit, hasScripts });
  });
  return browsed;
};

describe('in Firefox, without scripts,', () => {
  walkMainWays(false);
});

/** A script that drops an archive with these bytes on the deploy form. */
const dropOf = (bytes: Uint8Array): string => `{
  const dataTransfer = new DataTransfer();
  const bytes = Uint8Array.from(atob('${Buffer.from(bytes).toString('base64')}'), (one) => one.charCodeAt(0));
  dataTransfer.items.add(new File([bytes], 'site.zip', { type: 'application/zip' }));
  for (const type of ['dragenter', 'dragover', 'drop'])
    document.querySelector('form.drop').dispatchEvent(new DragEvent(type, { bubbles: true, dataTransfer }));
}`;

// The Firefox driver cannot choose a folder, so this chooses one that has an index.html.
const chooseFolder = `{
  Object.defineProperty(File.prototype, 'webkitRelativePath', {
    get() { return 'dist/' + this.name; },
  });
  HTMLInputElement.prototype.click = function () {
    const { items, files } = new DataTransfer();
    items.add(new File(['<h1>Rex</h1>'], 'index.html'));
    this.files = files;
    this.dispatchEvent(new Event('change'));
  };
}`;

describe('in Firefox, with scripts,', () => {
  const browsed = walkMainWays(true);

  test('an archive or a folder is published when it is chosen, and an archive when it is dropped', async () => {
    const sites = browsed.dashboard.container.get(SitesKey);
    const { slug } = await sites.startProject(browsed.owner.accountId, 'Dropped');
    const folder = await mkdtemp(join(tmpdir(), 'animal-store-chosen-'));
    const archive = join(folder, 'site.zip');
    const page = await browsed.visit(`/dashboard/projects/${slug}`);
    const deploy = async (named: string) => {
      await page.role('button', 'Deploy').click();
      await page.role('link', named).isShown();
    };

    const names = ['index.html', 'rex.txt', 'tom.txt'].map((name) => ({ name }));
    const field = await page.raw.waitForSelector('input[type=file]');
    await writeFile(archive, zipOf(names));
    await field!.uploadFile(archive);
    await deploy('Deploy 1');

    await page.evaluate(dropOf(zipOf(names.slice(0, 2))));
    await page.css('form.drop :focus').exactly('Deploy').isShown();
    await deploy('Deploy 2');

    await page.evaluate(chooseFolder);
    await page.role('button', 'Choose a folder').click();
    await page.words('1 file is packed. Press Deploy to publish it.').isShown();
    await deploy('Deploy 3');

    const { deploys } = await sites.getSite(slug);
    expect(deploys).toMatchObject([{ files: 1 }, { files: 2 }, { files: 3 }]);
    await rm(folder, { recursive: true });
  });
});

describe('a menu in Firefox', () => {
  const browsed = browseDashboard(({ dashboard, owner }) => fill(dashboard, owner, 'birds.test'), {
    isFirefox: true,
  });

  test.each([1280, 460])('is within a window of %d pixels', async (width) => {
    const page = await browsed.visit('/dashboard/keys', { width });
    for (const opener of ['header [popovertarget=person]', 'main .menu-button']) {
      await page.css(opener).click();
      const outside = `(({ top, left, right, bottom }) =>
        top < 0 || left < 0 || right > innerWidth || bottom > innerHeight
      )(document.querySelector('.menu:popover-open').getBoundingClientRect())`;
      expect([opener, await page.evaluate(outside)]).toEqual([opener, false]);
      await page.press('Escape');
      await page.css('.menu').isGone();
    }
  });
});

/** Counts the pages of a PDF, whose objects are in compressed streams. */
const pagesIn = (pdf: Uint8Array): number => {
  const text = Buffer.from(pdf).toString('latin1');
  const streams = [...text.matchAll(/(?<=\bstream\r?\n).*?(?=\r?\nendstream)/gs)];
  const objects = streams.map(([one]) => {
    const bytes = Buffer.from(one, 'latin1');
    return bytes[0] === 0x78 ? inflateSync(bytes).toString('latin1') : '';
  });
  return objects.join('').match(/\/Type \/Page\b/g)?.length ?? 0;
};

describe('what Firefox prints', () => {
  const count = 30;
  const browsed = browseDashboard(
    async ({ dashboard, owner }) => {
      const draft = { name: 'Rex', categoryId: 7n, status: 'available' } as const;
      const drafts = Array.from({ length: count }, () => draft);
      await dashboard.container.get(CatalogueKey).createPets(owner.accountId, drafts);
    },
    { isFirefox: true },
  );

  test('begins a long list on the first page, below its title', async () => {
    const page = await browsed.visit('/dashboard/animals');
    expect(pagesIn(await page.raw.pdf({ format: 'a4' }))).toBe(2);
  });
});

describe('in Firefox, with all servers,', () => {
  let day: FirstDay;
  let browser: TestBrowser;
  let firefox: Awaited<ReturnType<typeof launchBrowser>>;
  beforeAll(async () => {
    day = await FirstDay.begin();
    firefox = await launchBrowser('firefox');
    browser = await startBrowser(day.lab.service.origin, firefox.browser);
  }, browserStartMs);
  afterAll(async () => {
    try {
      await browser.closePages();
    } finally {
      await firefox.close();
      await day.close();
    }
  });

  test('a new owner gets from the mailed invitation to a live domain and a deploy from a laptop', async () => {
    await day.live('in-firefox', await browser.open(), true);
  });
});
