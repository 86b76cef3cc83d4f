import { beforeEach, expect } from '@jest/globals';
import {
  unchanged,
  type CustomDomain,
  type AdmissionFacts,
} from '../../../src/domains/domain/attachment/custom-domain.ts';
import type { DnsStatus } from '../../../src/domains/domain/dns/judgement.ts';
import { dnsProblem } from '../../../src/domains/domain/dns/problem.ts';
import type { Project } from '../../../src/sites/domain/project.ts';
import { later, newAccount, takeEvents } from '../../support/accounts.ts';
import {
  addTo,
  newDomain,
  newHost,
  remove,
  servedProject,
  verify,
} from '../../support/domains/custom-domains.ts';
import { inEachState, report, withEveryWork } from '../../support/domains/known-domains.ts';
import { race } from '../../support/race.ts';
import { refusal, refuse } from '../../support/refusal.ts';
import { projectDecision } from '../../support/sites/sites.ts';
import { describeStores, test, testOnBoth } from '../../support/store-contracts.ts';

const oddText = `'"\\ ü🐦 \u0000 \ud800 {"$date":"2026-03-01"} ${'x'.repeat(3000)}`;
const problem = dnsProblem('cname_wrong_target', { seen: oddText, wanted: 'ä', resolver: '::1' });

/** A value with every optional field. */
const dns: DnsStatus = {
  report: report(later(5), {
    problems: [problem, dnsProblem('cname_missing', { seen: '', wanted: '', actor: 'us' })],
    resolvers: [
      {
        resolver: '[2001:db8::1]:53',
        tookMs: 12.75,
        seen: oddText,
        ttl: 4_294_967_295,
        agrees: true,
      },
      { resolver: '198.51.100.1', tookMs: 0, seen: '', ttl: undefined, agrees: false },
    ],
    ownershipRequired: true,
    challengeZone: 'acme.example',
  }),
  lastCheckedAt: later(5),
  nextCheckAt: later(6),
  lastVerifyAskedAt: later(-7),
  preparedUntil: later(-6),
};
describeStores('custom domains', (stores) => {
  const { domains } = stores;
  let project: Project;
  let account: string;
  beforeEach(async () => {
    account = await newAccount(stores);
    project = await servedProject(stores, account);
  });

  /** Replaces the state of the domain. */
  const put = async (domain: CustomDomain): Promise<CustomDomain> =>
    (await domains.change(domain.id, () => unchanged(domain))).state;

  testOnBoth(
    'an added domain is read back unchanged by every kind of lookup, in each process',
    async () => {
      const host = `${'a'.repeat(63)}.`.repeat(4).slice(0, 253);
      const added = await newDomain(stores, project, { host });
      expect(added).toMatchObject({ state: 'added', host, accountId: account });
      for (const reader of [domains, stores.secondProcess.domains]) {
        expect(await reader.get(added.id)).toEqual(added);
        expect(await reader.find(project.id, host)).toEqual(added);
        expect(await reader.list(project.id)).toEqual([added]);
      }
    },
  );

  testOnBoth.each(inEachState)(
    'a domain that is $state is read back with all its facts',
    async (known) => {
      const { id, accountId, projectId, host, token } = await newDomain(stores, project);
      const its = { id, accountId, projectId, host, token };
      const unicodeHost = 'bücher.例え.example';
      const full = { ...known, ...its, unicodeHost, isApex: true, generation: 2 ** 40 };
      for (const state of [{ ...known, ...its }, ...withEveryWork({ ...full, dns }, problem)]) {
        const stored = await put(state);
        expect(stored).toEqual({ ...state, episodes: expect.anything() as unknown });
        expect(await stores.secondProcess.domains.get(id)).toEqual(stored);
      }
    },
  );

  test('a missing domain is not found', async () => {
    const { host } = await newDomain(stores, project);
    expect(await domains.get('dom_nobodys')).toBeUndefined();
    expect(await domains.find(project.id, newHost())).toBeUndefined();
    expect(await domains.find('proj_nobodys', host)).toBeUndefined();
    expect(await domains.list('proj_nobodys')).toEqual([]);
    expect(await domains.holdersOf(host)).toEqual([]);
    const changing = domains.change('dom_nobodys', refuse);
    await expect(changing).rejects.toHaveProperty('code', 'domain_not_found');
  });

  test("the decision to add receives the account's domains, the project that has the name, and whether this project is served", async () => {
    const told: unknown[] = [];
    const ask = async (wanted: Project, host: string) => {
      const adding = domains.add(
        { ...wanted, projectId: wanted.id, hosts: { typed: host }, addedSince: later(-1) },
        ({ typed: { addedLately, ...facts } }) => {
          expect(addedLately.every((at) => at > later(-1))).toBe(true);
          told.push(facts);
          return refuse();
        },
      );
      await expect(adding).rejects.toBe(refusal);
    };
    const { state: other, events } = projectDecision(account, { name: 'Fish' });
    await stores.projects.add(account, () => ({ state: other, events }));
    const host = newHost();
    await newDomain(stores, await servedProject(stores), { host });
    await ask(project, host);
    const { id } = await newDomain(stores, project, { host });
    await newDomain(stores, project);
    await ask(project, host);
    await ask(other, host);
    await ask(other, newHost());
    await domains.change(id, remove);
    await ask(project, host);
    const facts = (current: number, hasSucceededDeploy: boolean, isThisOne?: boolean) => {
      const attachedTo =
        isThisOne === undefined ? undefined : { name: project.name, isThisOne, isDeleted: false };
      const provenElsewhere = undefined;
      return {
        current,
        hasSucceededDeploy,
        provenElsewhere,
        attachedTo,
      } satisfies Partial<AdmissionFacts>;
    };
    expect(told).toEqual([
      facts(0, true),
      facts(2, true, true),
      facts(2, false, false),
      facts(2, false),
      facts(1, true),
    ]);
  });

  test("nothing is added to another account's project or to a missing one", async () => {
    const stranger = await newAccount(stores);
    for (const wanted of [
      { ...project, accountId: stranger },
      { ...project, id: 'proj_nobodys' },
    ]) {
      const adding = addTo(stores, wanted);
      await expect(adding).rejects.toHaveProperty('code', 'project_not_found');
    }
    expect(await domains.list(project.id)).toEqual([]);
    expect(await takeEvents(stores)).toEqual([]);
  });

  testOnBoth(
    'when twenty compete for the last place of an account, across its projects, exactly one gets it',
    async () => {
      const projects = [
        project,
        await servedProject(stores, account),
        await servedProject(stores, account),
      ];
      const processes = [stores, stores.secondProcess];
      await newDomain(stores, project);
      const { won, lost } = await race(20, (n) =>
        addTo(processes[n % 2] ?? stores, projects[n % 3] ?? project, { limit: 2 }),
      );
      expect(won).toHaveLength(1);
      expect(lost).toEqual(Array(19).fill('domain_limit_reached'));
      const kept = await Promise.all(projects.map(({ id }) => domains.list(id)));
      expect(kept.flat()).toHaveLength(2);
      expect(await takeEvents(stores)).toHaveLength(1);
    },
  );

  test('the decision receives the times of all additions of the account, including removed domains', async () => {
    const second = await servedProject(stores, account);
    for (const at of [1, 2, 3]) await newDomain(stores, project, { at: later(at) });
    const { id } = await newDomain(stores, second, { at: later(4) });
    await domains.change(id, remove);
    await newDomain(stores, await servedProject(stores), { at: later(5) });
    const told: (readonly Date[])[] = [];
    const hosts = { typed: newHost() };
    const wanted = { accountId: account, projectId: project.id, hosts };
    for (const { domains: reader } of [stores, stores.secondProcess]) {
      const adding = reader.add({ ...wanted, addedSince: later(1) }, ({ typed }) => {
        told.push(typed.addedLately);
        return refuse();
      });
      await expect(adding).rejects.toBe(refusal);
    }
    const lately = [later(4), later(3), later(2)];
    expect(told).toEqual([lately, lately]);
  });

  testOnBoth(
    'when twenty compete for the last addition of an hour, after removals, exactly one succeeds',
    async () => {
      for (let n = 0; n < 3; n++) {
        const { id } = await newDomain(stores, project);
        await domains.change(id, remove);
      }
      await takeEvents(stores);
      const second = await servedProject(stores, account);
      const processes = [stores, stores.secondProcess];
      const { won, lost } = await race(20, (n) =>
        addTo(processes[n % 2] ?? stores, n % 3 ? project : second, { perHour: 4 }),
      );
      expect(won).toHaveLength(1);
      expect(lost).toEqual(Array(19).fill('domains_added_too_fast'));
    },
  );

  testOnBoth('when twenty add one name to one project, exactly one succeeds', async () => {
    const host = newHost();
    const processes = [stores, stores.secondProcess];
    const { won, lost } = await race(20, (n) =>
      addTo(processes[n % 2] ?? stores, project, { host }),
    );
    expect(won).toHaveLength(1);
    expect(lost).toEqual(Array(19).fill('domain_taken'));
    expect(await domains.list(project.id)).toEqual(won);
  });

  test('several accounts may add the same name until one proves it', async () => {
    const wanted = { host: newHost() };
    const [mine, theirs] = [
      await newDomain(stores, project, wanted),
      await newDomain(stores, await servedProject(stores), wanted),
    ];
    expect(await domains.holdersOf(wanted.host)).toEqual([]);
    const { state: verified } = await domains.change(theirs.id, verify);
    expect(await domains.holdersOf(wanted.host)).toEqual([verified]);
    expect(await domains.get(mine.id)).toEqual(mine);
  });

  testOnBoth('a list is newest first and includes the last twenty removed domains', async () => {
    const added: CustomDomain[] = [];
    for (let n = 0; n < 24; n++) added.unshift(await addTo(stores, project, { at: later(n) }));
    for (const { id } of added.slice(1, 23)) await domains.change(id, remove);
    const listed = await domains.list(project.id);
    expect(listed.map(({ id }) => id)).toEqual(
      [...added.slice(0, 21), ...added.slice(23)].map(({ id }) => id),
    );
    expect(await stores.secondProcess.domains.list(project.id)).toEqual(listed);
  });

  test('looking up a name finds its current attachment, or else the newest one', async () => {
    const host = newHost();
    const found = async () => (await domains.find(project.id, host))?.id;
    // The clock was set back between them.
    const added = [];
    for (const at of [later(5), later(9), later(7)]) {
      const { id } = await addTo(stores, project, { host, at });
      expect(await found()).toBe(id);
      await domains.change(id, remove);
      added.push(id);
    }
    expect(await found()).toBe(added[1]);
  });

  test('a domain and its changes are stored together with their events', async () => {
    const { id, host } = await addTo(stores, project);
    await domains.change(id, verify);
    await domains.change(id, remove);
    const common = { accountId: account, projectId: project.id, domainId: id, host };
    expect(await takeEvents(stores)).toEqual([
      { type: 'domain_added', ...common, occurredAt: later(0) },
      { type: 'domain_verified', ...common, occurredAt: later(1) },
      { type: 'domain_removed', ...common, occurredAt: later(4), reason: 'owner' },
    ]);
  });

  test('a change that fails stores nothing', async () => {
    const domain = await newDomain(stores, project);
    const { id: projectId, accountId } = project;
    const adding = domains.add(
      { accountId, projectId, hosts: { typed: newHost() }, addedSince: later(0) },
      refuse,
    );
    await expect(adding).rejects.toBe(refusal);
    await expect(domains.change(domain.id, refuse)).rejects.toBe(refusal);
    expect(await domains.list(projectId)).toEqual([domain]);
    expect(await takeEvents(stores)).toEqual([]);
  });

  testOnBoth('none of twenty concurrent changes is lost', async () => {
    const { id } = await newDomain(stores, project);
    const processes = [domains, stores.secondProcess.domains];
    const { lost } = await race(20, (n) =>
      (processes[n % 2] ?? domains).change(id, (domain) =>
        unchanged({ ...domain, generation: domain.generation + 1 }),
      ),
    );
    expect(lost).toEqual([]);
    expect((await domains.get(id))?.generation).toBe(20);
  });
});
