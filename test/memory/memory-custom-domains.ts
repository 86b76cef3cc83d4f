import type { Clock } from '../../src/kernel/clock.ts';
import {
  domainTaken,
  provenElsewhere,
  provesName,
} from '../../src/domains/domain/attachment/contested-name.ts';
import { isCertified, provenAt, type Certified } from '../../src/domains/domain/attachment/plan.ts';
import { contested, mostRivalsTold } from '../../src/domains/domain/attachment/rivals.ts';
import {
  customDomainStates,
  type CustomDomain,
  type CustomDomainState,
  type DomainDecision,
} from '../../src/domains/domain/attachment/custom-domain.ts';
import { covers, isWildcard, namesFor } from '../../src/domains/domain/names/wildcard.ts';
import type { PairDecision } from '../../src/domains/domain/redirects/pair.ts';
import { isAttached, projectHostsOf } from '../../src/domains/domain/attachment/serving.ts';
import { isWithheldFrom, mayBeWithheld } from '../../src/domains/domain/attachment/withheld.ts';
import { timelineOf } from '../../src/domains/domain/attachment/timeline.ts';
import { dueAt } from '../../src/domains/domain/attachment/schedule.ts';
import { projectNotFound } from '../../src/sites/domain/sites-error.ts';
import { domainNotFound } from '../../src/domains/domain/domains-error.ts';
import type { CaUse } from '../../src/domains/domain/certificates/ca-budget.ts';
import type { DomainChange } from '../../src/domains/domain/attachment/change.ts';
import {
  CustomDomains,
  type DomainClaim,
  type HeldDomain,
} from '../../src/domains/custom-domain-ports.ts';
import type { MemoryAuthorityLedger } from './memory-authority-ledger.ts';
import type { MemoryCertificateOrders } from './memory-certificate-orders.ts';
import type { MemoryDomainShares } from './memory-domain-shares.ts';
import type { MemoryEdgeRecords } from './memory-edge-records.ts';
import type { MemoryOutbox } from './memory-outbox.ts';
import type { MemoryTimeline } from './memory-timeline.ts';
import type { MemoryProjectRoutes } from './memory-project-routes.ts';

type Wanted = Parameters<CustomDomains['add']>[0];
type Admit = Parameters<CustomDomains['add']>[1];
type WantedPair = Parameters<CustomDomains['addPair']>[0];
type AdmitPair = Parameters<CustomDomains['addPair']>[1];

const mostRemovedShown = 20;

/** What else a change of a domain touches. */
export interface DomainSurroundings {
  readonly outbox: MemoryOutbox;
  readonly routes: MemoryProjectRoutes;
  readonly orders: MemoryCertificateOrders;
  readonly edgeRecords: MemoryEdgeRecords;
  readonly timeline: MemoryTimeline;
  readonly ledger: MemoryAuthorityLedger;
  readonly shares: MemoryDomainShares;
  /** Says since when something is no longer served. */
  readonly clock: Clock;
}

export class MemoryCustomDomains extends CustomDomains {
  readonly #around: DomainSurroundings;
  readonly #domains = new Map<string, CustomDomain>();
  readonly #leases = new Map<string, { readonly claim: string; readonly until: Date }>();
  #claims = 0;

  constructor(around: DomainSurroundings) {
    super();
    this.#around = around;
  }

  override async add({ host, ...wanted }: Wanted, decide: Admit): Promise<CustomDomain> {
    await Promise.resolve();
    const { factsOf } = this.#lookAt(wanted);
    const decision = decide(factsOf(host));
    this.#prepareNew(decision)();
    this.#alignRoutes(wanted.projectId);
    return decision.state;
  }

  override async addPair(
    { hosts: pair, ...wanted }: WantedPair,
    decide: AdmitPair,
  ): Promise<PairDecision> {
    await Promise.resolve();
    const { routes, outbox, clock } = this.#around;
    const { project, factsOf } = this.#lookAt(wanted);
    const [typed, other] = [factsOf(pair.typed), factsOf(pair.other)];
    const decision = decide({ typed, other, settings: project.settings, hosts: project.hosts });
    // Everything that can fail comes before anything is stored.
    const saves = [decision.typed, decision.other].map((one) => this.#prepareNew(one));
    for (const save of saves) save();
    routes.change(wanted.projectId, { settings: decision.settings.state }, clock.now());
    outbox.append(decision.settings.events);
    this.#alignRoutes(wanted.projectId);
    return decision;
  }

  #lookAt({ accountId, projectId, addedSince }: Omit<Wanted, 'host'>) {
    const project = this.#around.routes.find(projectId);
    if (project?.accountId !== accountId) throw projectNotFound(projectId);
    const own = this.#all((one) => one.accountId === accountId && isAttached(one));
    const account = {
      current: own.length,
      addedLately: this.#all((one) => one.accountId === accountId && one.addedAt > addedSince).map(
        ({ addedAt }) => addedAt,
      ),
      hasSucceededDeploy: project.servedDeployId !== undefined,
    };
    const factsOf = (host: string) => {
      const same = own.find((one) => one.host === host);
      const attachedTo = same && {
        name: this.#around.routes.find(same.projectId)?.name ?? '',
        isThisOne: same.projectId === projectId,
      };
      const claimant = { id: '', accountId, host };
      const its = { provenElsewhere: provenElsewhere(claimant, this.#holdersOf(host)) };
      return { ...account, ...its, attachedTo };
    };
    return { project, factsOf };
  }

  #prepareNew({ state, events }: DomainDecision): () => void {
    const tell = this.#around.timeline.prepare(state.id, timelineOf(undefined, events));
    return () => {
      this.#domains.set(state.id, structuredClone(state));
      this.#around.outbox.append(events);
      tell();
    };
  }

  override find(projectId: string, host: string): Promise<CustomDomain | undefined> {
    const found = this.#all((one) => one.projectId === projectId && one.host === host);
    return Promise.resolve(found.find(isAttached) ?? found[0]);
  }

  override get(id: string): Promise<CustomDomain | undefined> {
    return Promise.resolve(structuredClone(this.#domains.get(id)));
  }

  /** For the other adapters of this folder. */
  current(id: string): CustomDomain | undefined {
    return structuredClone(this.#domains.get(id));
  }

  override list(projectId: string): Promise<readonly CustomDomain[]> {
    const domains = this.#all((one) => one.projectId === projectId);
    const removed = domains.filter((one) => !isAttached(one)).slice(0, mostRemovedShown);
    const shown = domains.filter((one) => isAttached(one) || removed.includes(one));
    return Promise.resolve(shown);
  }

  override fingerprint(slug: string): Promise<string> {
    const project = this.#around.routes.named(slug);
    const all = [...this.#domains.values()];
    const facts = project
      ? [project, all, this.#around.ledger.all(), this.#around.shares.all()]
      : [];
    return Promise.resolve(JSON.stringify(facts));
  }

  override holdersOf(host: string): Promise<readonly CustomDomain[]> {
    return Promise.resolve(this.#holdersOf(host));
  }

  #holdersOf(host: string): readonly CustomDomain[] {
    return namesFor(host).flatMap((name) =>
      this.#all((one) => one.host === name && isCertified(one)),
    );
  }

  override async change<Change extends DomainChange>(
    id: string,
    decide: (domain: CustomDomain, holder: CustomDomain | undefined) => Change,
  ): Promise<Change> {
    await Promise.resolve();
    return this.#change(id, decide);
  }

  override async changeCounted<Change extends DomainChange>(
    id: string,
    { authority, now }: { readonly authority: string; readonly now: Date },
    decide: (domain: CustomDomain, use: CaUse) => Change,
  ): Promise<Change> {
    await Promise.resolve();
    const { ledger } = this.#around;
    return this.#change(id, (domain) =>
      decide(domain, ledger.useOf({ ...domain, authority }, now)),
    );
  }

  #change<Change extends DomainChange>(
    id: string,
    decide: (domain: CustomDomain, holder: CustomDomain | undefined) => Change,
  ): Change {
    const domain = this.#domains.get(id);
    if (!domain) throw domainNotFound(id);
    const { host } = domain;
    const [holder] = this.#all((one) => one.host === host && isCertified(one) && one.id !== id);
    const change = decide(structuredClone(domain), structuredClone(holder));
    const { displaced, certificate, state } = change;
    const stays = holder && isCertified(displaced?.state ?? holder);
    if (stays && isCertified(state)) throw domainTaken(domain);
    // Everything that can fail comes before anything is stored.
    const isKept = state.certificate.kind === 'issued';
    const saves = [
      ...(holder && displaced ? [this.#prepare(holder, displaced, isKept)] : []),
      this.#prepare(domain, change, isKept),
    ];
    for (const save of saves) save();
    if (provesName(domain, state)) {
      this.#tellRivals(state);
      for (const one of this.#all((other) => mayBeWithheld(other, state)))
        this.#alignRoutes(one.projectId);
    }
    if (change.endsOrder !== undefined) this.#around.orders.forgetOrder(change.endsOrder);
    if (change.ledger) this.#around.ledger.write(change.ledger);
    if (certificate) this.#around.edgeRecords.setCertificate(certificate);
    return change;
  }

  override claimDue(now: Date, leaseUntil: Date, limit: number): Promise<DomainClaim> {
    const claim = `claim_${++this.#claims}`;
    const isFree = ({ id }: CustomDomain) => (this.#leases.get(id)?.until ?? now) <= now;
    const domains = this.#all((one) => timeDue(one) <= now.getTime() && isFree(one))
      .sort((one, other) => timeDue(one) - timeDue(other))
      .slice(0, limit);
    for (const { id } of domains) this.#hold({ id, claim }, leaseUntil);
    return Promise.resolve({ claim, domains });
  }

  override prolong(held: readonly HeldDomain[], leaseUntil: Date): Promise<void> {
    for (const one of held) if (this.#isHeld(one)) this.#hold(one, leaseUntil);
    return Promise.resolve();
  }

  override release(held: HeldDomain): Promise<void> {
    if (this.#isHeld(held)) this.#leases.delete(held.id);
    return Promise.resolve();
  }

  override inState(
    state: CustomDomainState,
    after: string,
    limit: number,
  ): Promise<readonly CustomDomain[]> {
    const found = this.#all((one) => one.state === state && one.id > after);
    return Promise.resolve(found.sort(byId).slice(0, limit));
  }

  override countByState(): Promise<Readonly<Record<CustomDomainState, number>>> {
    const count = (state: CustomDomainState) => this.#all((one) => one.state === state).length;
    const counts = customDomainStates.map((state) => [state, count(state)] as const);
    return Promise.resolve(Object.fromEntries(counts) as Record<CustomDomainState, number>);
  }

  #hold({ id, claim }: HeldDomain, until: Date): void {
    this.#leases.set(id, { claim, until: new Date(until) });
  }

  #isHeld({ id, claim }: HeldDomain): boolean {
    return this.#leases.get(id)?.claim === claim;
  }

  #tellRivals(claimant: Certified): void {
    const { id, host, accountId } = claimant;
    const isBelow = (one: CustomDomain) =>
      covers(host, one.host) && one.accountId !== accountId && !isCertified(one);
    const waiting = this.#all(
      (one) => (one.host === host || isBelow(one)) && one.state === 'added' && one.id !== id,
    ).sort(byId);
    const told = waiting
      .slice(0, mostRivalsTold)
      .map((rival) => contested(rival, host, provenAt(claimant)));
    this.#around.outbox.append(told);
  }

  /** @param isKept the certificate stays, with whoever takes the name over */
  #prepare(from: CustomDomain, change: DomainChange, isKept: boolean): () => void {
    const { state, events, cause } = change;
    const to = structuredClone(state);
    const tell = this.#around.timeline.prepare(from.id, timelineOf(cause, events));
    return () => {
      tell();
      this.#save(from, { state: to, events }, isKept);
    };
  }

  #save(from: CustomDomain, { state: to, events }: DomainDecision, isKept: boolean): void {
    const { outbox, orders, edgeRecords, shares, clock } = this.#around;
    this.#domains.set(from.id, to);
    outbox.append(events);
    // A domain that never held the name had no certificate: the one stored under the name belongs to another.
    const losesName = isCertified(from) && !isCertified(to);
    if (!isAttached(to) || losesName) orders.forgetOrdersOf(from.id);
    if (!isAttached(to)) shares.forget(from.id);
    const hasEnded = from.certificate.kind === 'issued' && to.certificate.kind !== 'issued';
    if ((losesName || hasEnded) && !isKept) edgeRecords.removeCertificate(to.host, clock.now());
    this.#alignRoutes(to.projectId);
  }

  #alignRoutes(projectId: string): void {
    const { routes, clock } = this.#around;
    const its = this.#all((one) => one.projectId === projectId);
    const wildcards = this.#all((one) => isWildcard(one.host) && isCertified(one));
    const withheld = its
      .filter((one) => wildcards.some((wildcard) => isWithheldFrom(one, wildcard)))
      .map(({ host }) => host);
    routes.change(projectId, { hosts: projectHostsOf(its.toReversed()), withheld }, clock.now());
  }

  /** Newest first; copies, which the caller may change. */
  #all(isWanted: (domain: CustomDomain) => boolean): CustomDomain[] {
    const found = [...this.#domains.values()].filter(isWanted);
    return structuredClone(found).sort(newestFirst);
  }
}

const byId = (one: CustomDomain, other: CustomDomain): number => (one.id < other.id ? -1 : 1);

const newestFirst = (one: CustomDomain, other: CustomDomain): number =>
  other.addedAt.getTime() - one.addedAt.getTime() || (one.id < other.id ? 1 : -1);

const timeDue = (domain: CustomDomain): number => dueAt(domain)?.getTime() ?? Infinity;
