import { afterEach, expect, test } from '@jest/globals';
import type { Allowance } from '../../../src/sites/domain/project.ts';
import { after, allowance, hour, minute, start } from '../../support/domains/known-domains.ts';
import { addCustomDomain } from '../../../src/domains/use-cases/add-domain.ts';
import { servedProject } from '../../support/domains/custom-domains.ts';
import { closeLabs, domainLab, host } from '../../support/domains/domain-lab.ts';
import { codeOf } from '../../support/race.ts';
import { mustNotBeUsed } from '../../support/strict-fake.ts';

afterEach(closeLabs);

test('a name is added without asking DNS or an authority', async () => {
  const { ports, project, kinds } = await domainLab();
  const [dns, authority] = [
    mustNotBeUsed<typeof ports.dns>('dns'),
    mustNotBeUsed<typeof ports.authority>('authority'),
  ];
  const all = { ...ports, dns, authority };
  const add = addCustomDomain(all);
  const domain = await add(project, ' Shop.Example.COM. ');
  expect(domain).toMatchObject({ state: 'added', host, addedAt: start, generation: 0 });
  expect(domain.dns.nextCheckAt).toEqual(after(minute));
  expect(await kinds(domain)).toEqual(['added']);
  expect(await ports.domains.find(project.id, host)).toEqual(domain);
});

test('each attachment has its own target label, also when the name is added again', async () => {
  const { add, remove } = await domainLab();
  const first = await add();
  await remove(first);
  const second = await add();
  expect([first.token, second.token]).toEqual([
    expect.stringMatching(/^[a-z0-9-]+$/),
    expect.stringMatching(/^[a-z0-9-]+$/),
  ]);
  expect(first.token).not.toBe(second.token);
});

test('a refused domain leaves nothing behind', async () => {
  const { ports, project, add } = await domainLab();
  const of = (changed: Partial<Allowance>) => ({
    ...ports,
    allowances: { of: () => Promise.resolve({ ...allowance, ...changed }) },
  });
  const refusals = await Promise.all([
    add(project, 'x.sites.test').catch(codeOf),
    addCustomDomain(of({ domains: 0 }))(project, host).catch(codeOf),
  ]);
  expect(refusals).toEqual([expect.any(String), 'plan_upgrade_required']);
  expect(await ports.domains.list(project.id)).toEqual([]);
  await add();
  expect(await add().catch(codeOf)).toBe('domain_taken');
  const full = addCustomDomain(of({ domains: 1 }))(project, 'www.example.com');
  expect(await full.catch(codeOf)).toBe('domain_limit_reached');
});

test('an account can add a limited number of domains per hour, however often it removes them', async () => {
  const lab = await domainLab();
  const limited = { ...allowance, plan: 'Pro', domainsAddedPerHour: 20 };
  const ports = { ...lab.ports, allowances: { of: () => Promise.resolve(limited) } };
  const add = () => addCustomDomain(ports)(lab.project, host);
  for (let n = 0; n < 20; n++) {
    await lab.remove(await add());
    lab.clock.advance(minute);
  }
  const refused = await add().catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: 'domains_added_too_fast' });
  expect(String(refused)).toContain('On the plan Pro you can add 20 domains in an hour');
  expect(String(refused)).toContain('the next one in 40 minutes');
  const other = await servedProject(lab.stores);
  await addCustomDomain(ports)(other, host);
  lab.clock.set(after(hour));
  await lab.remove(await add());
  expect(await add().catch(codeOf)).toBe('domains_added_too_fast');
});
