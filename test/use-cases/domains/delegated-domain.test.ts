import { afterEach, expect, test } from '@jest/globals';
import type { DnsChallenges } from '../../../src/domains/certificate-ports.ts';
import { recordCheck } from '../../../src/domains/domain/attachment/checks.ts';
import { checkDomain } from '../../../src/domains/use-cases/tend-domain.ts';
import { around, closeLabs, domainLab } from '../../support/domains/domain-lab.ts';
import { none } from '../../support/domains/known-dns.ts';
import { minute } from '../../support/domains/known-domains.ts';

afterEach(closeLabs);

const zone = 'acme.platform.test';

test('a delegated domain goes live by DNS validation, without a server at its own address, and leaves no value behind', async () => {
  const lab = await domainLab(zone);
  const domain = await lab.add();
  lab.delegate(domain);
  await lab.verify(domain);
  const published: string[] = [];
  const { dnsChallenges } = lab.ports;
  const witness: DnsChallenges = {
    publish: async (subject, challenge) => {
      expect(lab.asked('prove')).toBe(0);
      published.push(challenge.label);
      await dnsChallenges.publish(subject, challenge);
    },
    valuesFor: (labels, now) => dnsChallenges.valuesFor(labels, now),
  };
  await lab.tendDue({ dnsChallenges: witness });
  expect(await lab.current(domain)).toMatchObject({ state: 'live' });
  expect(published).toEqual([domain.token]);
  expect(await dnsChallenges.valuesFor([domain.token], lab.clock.now())).toEqual(new Map());
});

test('the authority is not asked to validate a delegated domain while its value cannot be read back', async () => {
  const lab = await domainLab(zone);
  const domain = await lab.add();
  lab.delegate(domain);
  await lab.verify(domain);
  const forgetful: DnsChallenges = {
    publish: () => Promise.resolve(),
    valuesFor: () => Promise.resolve(new Map()),
  };
  await expect(lab.tendDue({ dnsChallenges: forgetful })).rejects.toThrow('was not stored');
  expect(lab.asked('prove')).toBe(0);
  await lab.tendDue();
  expect(await lab.current(domain)).toMatchObject({ state: 'live' });
  expect(lab.asked('order')).toBe(1);
});

test('after a crash, a delegated domain continues with the method of its order, whatever the DNS says by then', async () => {
  const lab = await domainLab(zone);
  const domain = await lab.add();
  lab.delegate(domain);
  await lab.verify(domain);
  const crash = { before: () => Promise.reject(new Error('it crashed')) };
  const crashing = lab.tendDue({ authority: around(lab.authority, 'look', crash) });
  await expect(crashing).rejects.toThrow('it crashed');
  lab.point(domain, { delegation: none });
  lab.clock.advance(minute);
  await checkDomain(lab.ports)(await lab.current(domain), recordCheck);
  expect((await lab.current(domain)).dns.report?.validation?.method).toBe('http-01');
  const published: string[] = [];
  const dnsChallenges = around(lab.ports.dnsChallenges, 'publish', {
    before: () => published.push('a value'),
  });
  await lab.tendDue({ dnsChallenges });
  expect(published).toEqual(['a value']);
  expect((await lab.current(domain)).state).toBe('live');
  expect(lab.asked('order')).toBe(1);
});
