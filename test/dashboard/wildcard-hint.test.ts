import { expect, test } from '@jest/globals';
import { SitesKey } from '../../src/app/keys.ts';
import type { Plan } from '../../src/access/domain/plan.ts';
import { elementsIn, textOf } from '../support/dashboard/markup.ts';
import { startDashboard } from '../support/dashboard/running-dashboard.ts';

/** What the page with the form for a new domain says. */
const pageOf = async (plan: Plan, settings: Readonly<Record<string, string>>): Promise<string> => {
  const dashboard = await startDashboard({ settings });
  try {
    const { accountId, visitor } = await dashboard.newOwner({ plan });
    const { slug } = await dashboard.container.get(SitesKey).startProject(accountId, 'Shop');
    const { text } = await visitor.get(`/dashboard/projects/${slug}/settings/domains`);
    expect(elementsIn(text, 'input').map(({ attributes }) => attributes['name'])).toContain('pair');
    return textOf(text);
  } finally {
    await dashboard.close();
  }
};

const zone = { ACME_DNS_ZONE: 'acme.zoo.test' };

test.each([
  ['business', zone, true],
  ['pro', zone, false],
  ['business', {}, false],
] as const)(
  'on the plan %s with %j, the form for a new domain speaks of wildcards: %s',
  async (plan, settings, isShown) => {
    const text = await pageOf(plan, settings);
    expect(text.includes('A wildcard such as *.shop.example.com')).toBe(isShown);
  },
);
