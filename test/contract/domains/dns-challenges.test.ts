import { beforeEach, expect } from '@jest/globals';
import { UuidIds } from '../../../src/adapters/system/system-ports.ts';
import type { DnsChallenge } from '../../../src/domains/certificate-ports.ts';
import { orderSubject } from '../../../src/domains/domain/attachment/domain-certificate.ts';
import { later, now } from '../../support/accounts.ts';
import {
  liveDomain,
  newHost,
  remove,
  servedProject,
} from '../../support/domains/custom-domains.ts';
import { race } from '../../support/race.ts';
import { describeStores, test, testOnBoth } from '../../support/store-contracts.ts';

const ids = new UuidIds();
const hour = 3_600_000;

describeStores('values of DNS challenges', (stores) => {
  let subject: string;
  let label: string;
  beforeEach(async () => {
    label = ids.next('t').replace('_', '-');
    subject = await begin();
  });

  const begin = async (host = newHost(), of = `platform:${host}`): Promise<string> => {
    await stores.certificateOrders.begin({ authority: '', subject: of, host, privateKey: 'a key' });
    return of;
  };
  const challenge = (draft: Partial<DnsChallenge> = {}): DnsChallenge => ({
    label,
    value: 'a-value',
    expiresAt: later(hour),
    ...draft,
  });
  const publish = (draft: Partial<DnsChallenge> = {}, of = subject) =>
    stores.dnsChallenges.publish(of, challenge(draft));
  const values = async (at = now, through = stores.dnsChallenges) =>
    (await through.valuesFor([label], at)).get(label) ?? [];

  test('every process answers a value as soon as it is stored', async () => {
    const value = 'x'.repeat(255);
    expect(await values()).toEqual([]);
    await publish({ value });
    for (const { dnsChallenges } of [stores, stores.secondProcess])
      expect(await values(now, dnsChallenges)).toEqual([value]);
  });

  test('several labels can be looked up at once, and labels without values are omitted', async () => {
    await publish();
    await publish({ label: `${label}-2`, value: 'another' });
    const asked = [label, `${label}-2`, `${label}-3`, label.toUpperCase(), ''];
    expect(await stores.dnsChallenges.valuesFor(asked, now)).toEqual(
      new Map([
        [label, ['a-value']],
        [`${label}-2`, ['another']],
      ]),
    );
  });

  test('two orders can each have a value at one label, and each ends independently', async () => {
    const wildcard = await begin();
    await publish({ value: 'plain' });
    await publish({ value: 'wildcard' }, wildcard);
    expect(await values()).toEqual(['plain', 'wildcard']);
    await stores.certificateOrders.forget(subject);
    expect(await values()).toEqual(['wildcard']);
    await stores.certificateOrders.forget(wildcard);
    expect(await values()).toEqual([]);
  });

  test('one order may have two values at one label', async () => {
    for (const value of ['B', 'a', 'B']) await publish({ value });
    expect(await values()).toEqual(['B', 'a']);
    await stores.certificateOrders.forget(subject);
    expect(await values()).toEqual([]);
  });

  test('a value that two orders share is published once, until both have ended', async () => {
    const other = await begin();
    await publish();
    await publish({}, other);
    expect(await values()).toEqual(['a-value']);
    await stores.certificateOrders.forget(subject);
    expect(await values()).toEqual(['a-value']);
  });

  testOnBoth('values that differ only in case are different values', async () => {
    for (const value of ['abc', 'ABC']) await publish({ value });
    expect(await values()).toEqual(['ABC', 'abc']);
  });

  testOnBoth('a value ends at its time, and publishing it again extends that time', async () => {
    await publish();
    expect(await values(later(hour - 1))).toEqual(['a-value']);
    expect(await values(later(hour))).toEqual([]);
    await publish({ expiresAt: later(2 * hour) });
    expect(await values(later(hour))).toEqual(['a-value']);
  });

  testOnBoth('when twenty publish one value at once, it is stored once', async () => {
    const processes = [stores.dnsChallenges, stores.secondProcess.dnsChallenges] as const;
    const { lost } = await race(20, (n) =>
      (processes[n % 2] ?? processes[0]).publish(subject, challenge()),
    );
    expect(lost).toEqual([]);
    expect(await values()).toEqual(['a-value']);
  });

  test('an order that is forgotten or never begun publishes nothing', async () => {
    await stores.certificateOrders.forget(subject);
    await expect(publish()).rejects.toThrow('forgotten');
    await expect(publish({}, 'platform:never')).rejects.toThrow('forgotten');
    expect(await values()).toEqual([]);
  });

  testOnBoth(
    'a removed domain leaves no value behind, not even one that is published meanwhile',
    async () => {
      const project = await servedProject(stores);
      for (let round = 0; round < 5; round++) {
        const domain = await liveDomain(stores, project);
        const of = await begin(domain.host, orderSubject(domain));
        await publish({ value: 'early' }, of);
        await Promise.allSettled([
          stores.domains.change(domain.id, remove),
          stores.secondProcess.dnsChallenges.publish(of, challenge({ value: 'late' })),
        ]);
        expect(await values()).toEqual([]);
      }
    },
  );

  test('expired values are deleted, and the others stay', async () => {
    const longAgo = later(-1e12);
    await publish({ expiresAt: later(-1e12 + 1) });
    for (const value of ['1', '2', '3']) await publish({ value, expiresAt: longAgo });
    expect(await stores.retention.sweep('dns_challenges', later(-1e12 + 1))).toBe(3);
    expect(await values(longAgo)).toEqual(['a-value']);
  });
});
