import { beforeEach, expect } from '@jest/globals';
import {
  unchanged,
  type CustomDomain,
} from '../../../src/domains/domain/attachment/custom-domain.ts';
import type { DomainChange } from '../../../src/domains/domain/attachment/timeline-entries.ts';
import { endShare, shareDomain } from '../../../src/domains/domain/attachment/share.ts';
import type { Project } from '../../../src/sites/domain/project.ts';
import { wildcardOver } from '../../../src/domains/domain/names/hostname.ts';
import { newHash } from '../../support/access/people.ts';
import { later } from '../../support/accounts.ts';
import {
  deployTo,
  goLive,
  newDomain,
  remove,
  servedProject,
  verify,
} from '../../support/domains/custom-domains.ts';
import { describeStores, test, testOnBoth } from '../../support/store-contracts.ts';

describeStores('the fingerprint of domains', (stores) => {
  let project: Project;
  let domain: CustomDomain;
  beforeEach(async () => {
    project = await servedProject(stores);
    domain = await newDomain(stores, project);
  });

  /** The fingerprint in another process. */
  const seen = async () => {
    const { domains } = stores.secondProcess;
    const { slug } = project;
    return {
      all: await domains.fingerprint(slug),
      one: await domains.fingerprint(slug, domain.host),
    };
  };
  const expectNews = async (change: () => Promise<unknown>): Promise<void> => {
    const before = await seen();
    await change();
    const after = await seen();
    expect([after.all === before.all, after.one === before.one]).toEqual([false, false]);
  };
  const change = (decide: (one: CustomDomain) => DomainChange) =>
    stores.domains.change(domain.id, decide);

  test('a fingerprint stays the same while nothing is stored', async () => {
    expect(await seen()).toEqual(await seen());
  });

  testOnBoth('a fingerprint differs after each step of the domain', async () => {
    await expectNews(() => change(verify));
    await expectNews(() => change(goLive));
    await expectNews(() => change(remove));
  });

  test('a fingerprint differs after a check that leads to no event', async () => {
    await expectNews(() =>
      change((one) => unchanged({ ...one, dns: { ...one.dns, lastCheckedAt: later(60_000) } })),
    );
  });

  test('a fingerprint differs after a link to the domain was created or revoked', async () => {
    const id = 'share_1';
    const { shares } = stores;
    await expectNews(() =>
      shares.change(domain, later(0), (one, open) =>
        shareDomain(one, open, { id, secretHash: newHash(), now: later(0) }),
      ),
    );
    await expectNews(() =>
      shares.change(domain, later(0), (one, open) => endShare(one, open, { id, now: later(0) })),
    );
  });

  testOnBoth(
    "the fingerprint of a project's domains differs after another domain is added",
    async () => {
      const before = await seen();
      await newDomain(stores, project);
      expect((await seen()).all).not.toBe(before.all);
    },
  );

  test('a fingerprint differs after another deploy is served, and after other settings', async () => {
    await expectNews(() => deployTo(stores, project));
    for (const primary of [domain.host, undefined, null]) {
      await expectNews(() =>
        stores.settings.change(project.id, (settings) => ({
          state: { ...settings, primary },
          events: [],
        })),
      );
    }
  });

  testOnBoth(
    "the fingerprint of a project's domains differs after another account has used a limit of the authority",
    async () => {
      await expectNews(() =>
        stores.edgeWriter.writeLedger({
          entered: [
            {
              kind: 'issued',
              orderKey: 'key',
              isManual: false,
              occurredAt: later(0),
              authority: '',
              accountId: 'acct_other',
              host: 'www.o.example',
              registrableDomain: 'o.example',
            },
          ],
        }),
      );
    },
  );

  test('a fingerprint differs once another account has proven the name', async () => {
    const rival = await servedProject(stores);
    const { id } = await newDomain(stores, rival, { host: domain.host });
    await expectNews(() => stores.domains.change(id, verify));
  });

  testOnBoth(
    'a fingerprint differs once another account has proven the wildcard that covers the name',
    async () => {
      const rival = await servedProject(stores);
      const wildcard = wildcardOver(domain.host) ?? '';
      const { id } = await newDomain(stores, rival, { host: wildcard });
      await expectNews(() => stores.domains.change(id, verify));
    },
  );
});
