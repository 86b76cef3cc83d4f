import { beforeEach, expect } from '@jest/globals';
import {
  noDomainSettings,
  redirectStatuses,
  replaceSettings,
  type DomainSettings,
} from '../../../src/domains/domain/redirects/settings.ts';
import { adoptPrimary } from '../../../src/domains/use-cases/domain-settings.ts';
import type { CustomDomain } from '../../../src/domains/domain/attachment/custom-domain.ts';
import type { Project } from '../../../src/sites/domain/project.ts';
import type { ProjectHost } from '../../../src/domains/domain/attachment/serving.ts';
import { later, takeEvents } from '../../support/accounts.ts';
import {
  deployTo,
  goLive,
  liveDomain,
  newDomain,
  newHost,
  remove,
  routesIn,
  servedProject,
  verify,
} from '../../support/domains/custom-domains.ts';
import { race } from '../../support/race.ts';
import { refusal, refuse } from '../../support/refusal.ts';
import { scribble } from '../../support/scribble.ts';
import { describeStores, test, testOnBoth } from '../../support/store-contracts.ts';

describeStores('settings of projects', (stores) => {
  const { settings } = stores;
  let project: Project;
  beforeEach(async () => {
    project = await servedProject(stores);
  });

  const redirects = (...all: readonly (readonly [from: string, to: string])[]): DomainSettings => ({
    primary: undefined,
    redirects: all.map(([from, to]) => ({ from, to, status: 308 })),
  });
  const set = (wanted: DomainSettings, through = settings): Promise<DomainSettings> =>
    through.change(project.id, (current, { accountId }) =>
      replaceSettings(current, wanted, { projectId: project.id, accountId, now: later(0) }),
    );
  const onlyLook = (look: (hosts: readonly ProjectHost[]) => void) =>
    settings.change(project.id, (state, { hosts }) => {
      look(hosts);
      return { state, events: [] };
    });
  const routeOf = async (host: string) => (await routesIn(stores, project)).get(host);
  const toSite = (name: string, deployId: string) => {
    return { name, projectId: project.id, kind: 'site', deployId };
  };
  const elsewhere = (name: string, to: string) => {
    return { name, projectId: project.id, kind: 'redirect', to, status: 308 };
  };
  const live = async (host = newHost()): Promise<CustomDomain> =>
    liveDomain(stores, project, { host });

  test('a project has no settings until they are changed, nor does an unknown project', async () => {
    expect(await settings.read(project.id)).toEqual(noDomainSettings);
    expect(await settings.read('proj_nobodys')).toEqual(noDomainSettings);
    const changing = settings.change('proj_nobodys', refuse);
    await expect(changing).rejects.toHaveProperty('code', 'project_not_found');
  });

  testOnBoth(
    'settings are read back unchanged, by each process, for their own project',
    async () => {
      const wanted: DomainSettings = {
        primary: 'bücher.example',
        redirects: redirectStatuses.map((status) => ({
          from: `from-${status}.example`,
          to: `https://else.example/'"\\ü🐦`,
          status,
        })),
      };
      expect(await set(wanted, stores.secondProcess.settings)).toEqual(wanted);
      for (const reader of [settings, stores.secondProcess.settings])
        expect(await reader.read(project.id)).toEqual(wanted);
      expect(await settings.read((await servedProject(stores)).id)).toEqual(noDomainSettings);
      for (const primary of [undefined, null]) {
        await set({ ...wanted, primary });
        expect(await settings.read(project.id)).toEqual({ ...wanted, primary });
      }
    },
  );

  testOnBoth(
    "the decision gets the project's hosts that are not removed, oldest first",
    async () => {
      const added = await newDomain(stores, project, { at: later(2) });
      const served = await liveDomain(stores, project, { at: later(1) });
      const removed = await live();
      await stores.domains.change(removed.id, remove);
      await liveDomain(stores, await servedProject(stores));
      let told: unknown;
      await onlyLook((hosts) => {
        told = hosts;
      });
      const hostOf = ({ host, unicodeHost }: CustomDomain, liveSince?: Date) => {
        return { host, unicodeHost, isServed: liveSince !== undefined, liveSince };
      };
      expect(told).toEqual([hostOf(served, later(3)), hostOf(added)]);
    },
  );

  test('a redirect is served at once, and the site is served again once the redirect is deleted', async () => {
    const [from, to] = [(await live()).host, (await live()).host];
    const deploy = await deployTo(stores, project);
    const { revision } = await stores.edgeRecords.changesSince(0n);
    await set(redirects([from, to]));
    const { routes } = await stores.secondProcess.edgeRecords.changesSince(revision);
    expect(routes).toEqual([elsewhere(from, to)]);
    await set(noDomainSettings);
    expect(await routeOf(from)).toEqual(toSite(from, deploy));
  });

  test('a redirect waits until its target is live, and ends when that is removed', async () => {
    const target = await newDomain(stores, project);
    const { host: from } = await live();
    const deploy = await deployTo(stores, project);
    await set(redirects([from, target.host]));
    expect(await routeOf(from)).toEqual(toSite(from, deploy));
    await stores.domains.change(target.id, verify);
    expect(await routeOf(from)).toEqual(toSite(from, deploy));
    await stores.domains.change(target.id, goLive);
    expect(await routeOf(from)).toEqual(elsewhere(from, target.host));
    await stores.domains.change(target.id, remove);
    expect(await routeOf(from)).toEqual(toSite(from, deploy));
    expect(await routeOf(target.host)).toBeUndefined();
  });

  test('a removed host keeps its redirect for when it is live again', async () => {
    const [first, { host: to }] = [await live(), await live()];
    await set(redirects([first.host, to]));
    await stores.domains.change(first.id, remove);
    expect(await routeOf(first.host)).toBeUndefined();
    await live(first.host);
    expect(await routeOf(first.host)).toEqual(elsewhere(first.host, to));
  });

  test('a redirect to an external address works, unless that address is a host of the project that is not live', async () => {
    const [{ host: from }, to] = [await live(), newHost()];
    const deploy = await deployTo(stores, project);
    await set(redirects([from, `https://${to}`]));
    expect(await routeOf(from)).toEqual(elsewhere(from, `https://${to}`));
    const target = await newDomain(stores, project, { host: to });
    expect(await routeOf(from)).toEqual(toSite(from, deploy));
    await stores.domains.change(target.id, remove);
    expect(await routeOf(from)).toEqual(elsewhere(from, `https://${to}`));
  });

  test('a redirect survives a deploy, and settings that change no route do not reach the edges', async () => {
    const [from, to] = [(await live()).host, (await live()).host];
    await set(redirects([from, to]));
    const deploy = await deployTo(stores, project);
    expect(await routeOf(from)).toEqual(elsewhere(from, to));
    expect(await routeOf(to)).toEqual(toSite(to, deploy));
    const { revision } = await stores.edgeRecords.changesSince(0n);
    await set({ ...redirects([from, to]), primary: to });
    expect((await stores.edgeRecords.changesSince(0n)).revision).toBe(revision);
  });

  test('a change is recorded with its account and actor, and an unchanged setting causes no event', async () => {
    const wanted = { ...redirects(['a.example', 'b.example']), primary: 'b.example' };
    await stores.acting.run('person:mia@shop.example', () => set(wanted));
    const [delivery, ...others] = await stores.outbox.claim(later(0), later(1000), { limit: 1000 });
    const { accountId, id: projectId } = project;
    const about = { accountId, projectId, occurredAt: later(0) };
    expect(delivery?.stored).toMatchObject({
      actor: 'person:mia@shop.example',
      event: { type: 'domain_settings_changed', ...about, primary: 'b.example', redirects: 1 },
    });
    expect(others).toEqual([]);
    await stores.outbox.done([delivery!]);
    await set(wanted);
    expect(await takeEvents(stores)).toEqual([]);
    expect(await settings.read(project.id)).toEqual(wanted);
    await set(noDomainSettings);
    expect(await takeEvents(stores)).toMatchObject([{ primary: '', redirects: 0 }]);
  });

  test('a change that fails stores and records nothing', async () => {
    const [from, to] = [(await live()).host, (await live()).host];
    await set(redirects([from, to]));
    await takeEvents(stores);
    const { revision } = await stores.edgeRecords.changesSince(0n);
    await expect(settings.change(project.id, refuse)).rejects.toBe(refusal);
    expect(await settings.read(project.id)).toEqual(redirects([from, to]));
    expect((await stores.edgeRecords.changesSince(0n)).revision).toBe(revision);
    expect(await takeEvents(stores)).toEqual([]);
  });

  testOnBoth('none of twenty concurrent changes is lost', async () => {
    const processes = [settings, stores.secondProcess.settings];
    const { lost } = await race(20, (n) =>
      (processes[n % 2] ?? settings).change(project.id, (current) => ({
        state: { ...current, primary: `${current.primary ?? ''}x` },
        events: [],
      })),
    );
    expect(lost).toEqual([]);
    expect((await settings.read(project.id)).primary).toBe('x'.repeat(20));
  });

  testOnBoth.each(['in the order in which they became live', 'in the other order'])(
    'when two domains become live at the same moment, the first one becomes the primary, with their events %s',
    async (order) => {
      const { id: projectId } = project;
      const [one, other] = [await newDomain(stores, project), await newDomain(stores, project)];
      for (const { id } of [one, other]) await stores.domains.change(id, verify);
      await Promise.all([
        stores.domains.change(one.id, goLive),
        stores.secondProcess.domains.change(other.id, goLive),
      ]);
      const adopts = [settings, stores.secondProcess.settings].map((port) =>
        adoptPrimary({ settings: port, clock: { now: () => later(9) } }),
      );
      if (order === 'in the other order') adopts.reverse();
      // Each event is delivered at least once.
      await Promise.all([...adopts, ...adopts].map((adopt) => adopt(projectId)));
      expect((await settings.read(projectId)).primary).toBe(one.host);
      const events = await takeEvents(stores);
      expect(events.filter(({ type }) => type === 'domain_settings_changed')).toHaveLength(1);
    },
  );

  test('changing a record that was read does not change the stored one', async () => {
    await live();
    const wanted = redirects(['a.example', 'b.example']);
    const kept = structuredClone(wanted);
    for (const held of [await set(wanted), wanted, await settings.read(project.id)]) scribble(held);
    const meddle = settings.change(project.id, (current, facts) => {
      scribble([current, facts]);
      return refuse();
    });
    await expect(meddle).rejects.toBe(refusal);
    let told: readonly unknown[] = [];
    await onlyLook((hosts) => {
      told = hosts;
    });
    expect(told).toMatchObject([{ isServed: true }]);
    expect(await settings.read(project.id)).toEqual(kept);
    scribble(await settings.read('proj_nobodys'));
    expect(await settings.read('proj_nobodys')).toEqual({ primary: undefined, redirects: [] });
  });
});
