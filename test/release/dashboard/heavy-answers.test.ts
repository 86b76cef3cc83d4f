import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DomainsKey, SitesKey } from '../../../src/app/keys.ts';
import type { CustomDomain } from '../../../src/domains/domain/attachment/custom-domain.ts';
import { elementsIn } from '../../support/dashboard/markup.ts';
import { heavyFacts } from '../../support/dashboard/heavy-facts.ts';
import {
  startDashboard,
  type Owner,
  type RunningDashboard,
} from '../../support/dashboard/running-dashboard.ts';
import { deployEntries } from '../../support/sites/deploy-entries.ts';
import { entry } from '../../support/sites/site-source.ts';

let dashboard: RunningDashboard;
let owner: Owner;
let domain: CustomDomain;
let path: string;
beforeAll(async () => {
  dashboard = await startDashboard();
  owner = await dashboard.newOwner();
  const sites = dashboard.container.get(SitesKey);
  const domains = dashboard.container.get(DomainsKey);
  const project = await sites.startProject(owner.accountId, 'Birds');
  await deployEntries(dashboard.container, project, entry('index.html'));
  domain = await domains.addDomain(project, 'shop.birds.test');
  path = `/dashboard/projects/${project.slug}/settings/domains/${domain.host}`;
  const [first, second, third] = [heavyFacts('&'), heavyFacts('"'), heavyFacts('<')] as const;
  dashboard.dns.tell(domain.host, first, { '192.0.2.2': second, '192.0.2.3': third });
  for (let n = 0; n < 25; n++) {
    await domains.verifyDomain(domain);
    dashboard.clock.advance(10_000);
  }
});
afterAll(() => dashboard.close());

const kib = (text: string) => Math.round(Buffer.byteLength(text) / 1024);
const rawLinks = (text: string) =>
  elementsIn(text, 'a').flatMap((link) =>
    link.text === 'Raw answers' ? [link.attributes['href'] ?? ''] : [],
  );

test('a page of twenty checks with the most answers is less than 200 KiB', async () => {
  const { text } = await owner.visitor.get(path);
  expect(kib(text)).toBeLessThan(200);
  expect(
    elementsIn(text, 'li').filter(({ text: said }) => said.includes('DNS checked')),
  ).toHaveLength(20);
  expect(text).toContain('and 980 more');
});

test('answers that do not fit on a page start another one', async () => {
  const { text } = await owner.visitor.get(path);
  const links = rawLinks(text);
  expect(elementsIn(text, 'summary').filter((one) => one.text === 'Raw answers').length).toBe(
    20 - links.length,
  );
  const place = /before=(\d+)/.exec(links.at(-1) ?? '')?.[1] ?? '';
  const next = await owner.visitor.get(links.at(-1) ?? '');
  const [entries] = elementsIn(next.text, 'ol').slice(-1);
  expect(entries?.attributes['class']).toBe('stack timeline');
  const first = /id="entry-(\d+)"[\s\S]*?<summary>Raw answers/.exec(next.text);
  expect(Number(first?.[1]) + 1).toBe(Number(place));
});
