import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mostShares } from '../../../src/domains/domain/attachment/share.ts';
import type { CustomDomain } from '../../../src/domains/domain/attachment/custom-domain.ts';
import { domains, type Domains } from '../../../src/domains/domains.ts';
import { closeLabs, domainLab, host, type DomainLab } from '../../support/domains/domain-lab.ts';
import { day } from '../../support/domains/known-domains.ts';
import { takeEvents } from '../../support/accounts.ts';

afterEach(closeLabs);

let lab: DomainLab;
let face: Domains;
let domain: CustomDomain;
beforeEach(async () => {
  lab = await domainLab();
  face = domains(lab.ports);
  domain = await lab.add();
  await takeEvents(lab.stores);
});

const isRefused = { code: 'share_unknown' };

test('a link shows the current records, problems and state of its domain', async () => {
  const { secret } = await face.makeShare(domain);
  expect(await face.showShared(secret)).toMatchObject({ domain: { host, state: 'added' } });
  lab.point(domain);
  await lab.verify(domain);
  const {
    timeline: _,
    budget: __,
    ...described
  } = await face.showDomain(await lab.current(domain));
  const { share: ___, ...shown } = await face.showShared(secret);
  expect(shown).toEqual(described);
  expect(shown.domain.state).toBe('verified');
});

test('creating and revoking a link is reported, without the secret', async () => {
  const { id, secret } = await face.makeShare(domain);
  await face.revokeShare(domain, id);
  await face.revokeShare(domain, id);
  const told = await takeEvents(lab.stores);
  expect(told).toMatchObject([
    { type: 'domain_shared', domainId: domain.id, host, shareId: id },
    { type: 'domain_share_ended', domainId: domain.id, host, shareId: id },
  ]);
  expect(JSON.stringify(told)).not.toContain(secret);
});

describe('a link stops working', () => {
  test('after 30 days', async () => {
    const { secret, endsAt } = await face.makeShare(domain);
    lab.clock.advance(30 * day - 1);
    await face.showShared(secret);
    lab.clock.advance(1);
    expect(lab.clock.now()).toEqual(endsAt);
    await expect(face.showShared(secret)).rejects.toMatchObject(isRefused);
  });

  test('once it is revoked', async () => {
    const { id, secret } = await face.makeShare(domain);
    await face.revokeShare(domain, id);
    await expect(face.showShared(secret)).rejects.toMatchObject(isRefused);
  });

  test('once the domain is removed, even after the name was added again', async () => {
    const { secret } = await face.makeShare(domain);
    await lab.remove(domain);
    await expect(face.showShared(secret)).rejects.toMatchObject(isRefused);
    await lab.add();
    await expect(face.showShared(secret)).rejects.toMatchObject(isRefused);
  });
});

test('a domain has a limited number of links, and one more once one of them has ended', async () => {
  const made = [];
  for (let n = 0; n < mostShares; n++) made.push(await face.makeShare(domain));
  await expect(face.makeShare(domain)).rejects.toMatchObject({ code: 'share_limit_reached' });
  await face.revokeShare(domain, made[0]!.id);
  await face.makeShare(domain);
  lab.clock.advance(30 * day);
  await face.makeShare(domain);
});
