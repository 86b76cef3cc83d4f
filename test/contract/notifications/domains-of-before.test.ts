import { afterAll, beforeAll, expect } from '@jest/globals';
import { BridgedDomains } from '../../../src/app/watched-domains.ts';
import type { CustomDomain } from '../../../src/domains/domain/attachment/custom-domain.ts';
import { watchDueDomains } from '../../../src/notifications/use-cases/watch-domains.ts';
import { SettableClock } from '../../support/settable-clock.ts';
import { later, takeEvents } from '../../support/accounts.ts';
import { liveDomain, servedProject } from '../../support/domains/custom-domains.ts';
import { badReport, missing } from '../../support/domains/known-domains.ts';
import { describeStores, testOnBoth } from '../../support/store-contracts.ts';
import type { Stores } from '../../support/stores.ts';

const hour = 60 * 60_000;

/** As version 1.0.0 left it: nothing tells that it is in trouble. */
const inTrouble = (domain: CustomDomain): CustomDomain => {
  if (domain.state !== 'live') return domain;
  const attempts = {
    ...{ failed: 3, firstAt: later(8), lastAt: later(9), isManual: false, retryAt: undefined },
    ...{ lastBy: undefined, unproven: undefined, turns: {} },
  };
  const work = { step: 'planned', at: later(10 * hour), attempts, problem: missing } as const;
  return {
    ...domain,
    dns: { ...domain.dns, report: badReport(later(9)), lastCheckedAt: later(9) },
    certificate: { ...domain.certificate, work },
  };
};

describeStores('after an upgrade from 1.0.0', (open) => {
  let stores: Stores;
  beforeAll(async () => {
    stores = await open();
  });
  afterAll(() => stores.close());

  testOnBoth('owners are told, once, of live domains that were in trouble before', async () => {
    const { domains, watches } = stores;
    const { id } = await liveDomain(stores, await servedProject(stores));
    const healthy = await liveDomain(stores, await servedProject(stores));
    const trouble = (domain: CustomDomain) => ({ state: inTrouble(domain), events: [] });
    await domains.change(id, trouble);
    const clock = new SettableClock(later(10));
    const { watchDue } = watchDueDomains({ watches, domains: new BridgedDomains(domains), clock });
    const told = async () => {
      await watchDue(() => false);
      return takeEvents(stores);
    };
    expect(await told()).toMatchObject([{ type: 'certificate_failing', domainId: id }]);
    expect(await watches.get(`domain:${healthy.id}`)).toBeDefined();
    await domains.change(id, (domain) => {
      const dns = { ...domain.dns, report: badReport(later(hour + 9)) };
      return { state: { ...domain, dns: { ...dns, lastCheckedAt: later(hour + 9) } }, events: [] };
    });
    clock.advance(2 * hour);
    expect(await told()).toMatchObject([{ type: 'domain_unhealthy', domainId: id }]);
    expect(await told()).toEqual([]);
  });
});
