import { expect, test } from '@jest/globals';
import { after, minute, start } from '../support/known-domains.ts';
import { addCustomDomain } from '../../src/sites/use-cases/add-domain.ts';
import { domainLab, host } from '../support/domain-lab.ts';
import { codeOf } from '../support/race.ts';
import { mustNotBeUsed } from '../support/strict-fake.ts';

test('a name is added without asking DNS or an authority', async () => {
  const { ports, project, kinds } = await domainLab();
  const [dns, authority] = [
    mustNotBeUsed<typeof ports.dns>('dns'),
    mustNotBeUsed<typeof ports.authority>('authority'),
  ];
  const add = addCustomDomain({ ...ports, dns, authority });
  const domain = await add(project, ' Shop.Example.COM. ');
  expect(domain).toMatchObject({ state: 'added', host, addedAt: start, generation: 0 });
  expect(domain.dns.nextCheckAt).toEqual(after(minute));
  expect(await kinds(domain)).toEqual(['added']);
  expect(await ports.domains.find(project.id, host)).toEqual(domain);
});

test('the target of an attachment is a label of its own, also when the name is added again', async () => {
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

test('what is refused leaves nothing behind', async () => {
  const { ports, project, add } = await domainLab();
  const of = (allowance: { planAllows: boolean; limit: number }) => ({
    ...ports,
    allowances: { of: () => Promise.resolve(allowance) },
  });
  const refusals = await Promise.all([
    add(project, 'x.sites.test').catch(codeOf),
    addCustomDomain(of({ planAllows: false, limit: 5 }))(project, host).catch(codeOf),
    addCustomDomain(of({ planAllows: true, limit: 0 }))(project, host).catch(codeOf),
  ]);
  expect(refusals).toEqual([expect.any(String), 'plan_upgrade_required', 'domain_limit_reached']);
  expect(await ports.domains.list(project.id)).toEqual([]);
  await add();
  expect(await add().catch(codeOf)).toBe('domain_taken');
});
