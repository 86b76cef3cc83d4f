import type { Clock } from '../../src/kernel/clock.ts';
import { isCertified } from '../../src/domains/domain/attachment/plan.ts';
import type {
  CustomDomain,
  DomainDecision,
} from '../../src/domains/domain/attachment/custom-domain.ts';
import { isAttached, projectHostsOf } from '../../src/domains/domain/attachment/serving.ts';
import { timelineOf } from '../../src/domains/domain/attachment/timeline.ts';
import { dueAt } from '../../src/domains/domain/attachment/schedule.ts';
import { projectNotFound } from '../../src/sites/domain/sites-error.ts';
import { domainNotFound, domainTaken } from '../../src/domains/domain/domains-error.ts';
import type { CaUse } from '../../src/domains/domain/certificates/ca-budget.ts';
import type { DomainChange } from '../../src/domains/domain/attachment/change.ts';
import { CustomDomains, type DomainClaim, type HeldDomain } from '../../src/domains/ports.ts';
import type { MemoryAuthorityLedger } from './memory-authority-ledger.ts';
import type { MemoryCertificateOrders } from './memory-certificate-orders.ts';
import type { MemoryEdgeRecords } from './memory-edge-records.ts';
import type { MemoryOutbox } from './memory-outbox.ts';
import type { MemoryTimeline } from './memory-timeline.ts';
import type { MemoryProjectRoutes } from './memory-project-routes.ts';

type Wanted = Parameters<CustomDomains['add']>[0];
type Admit = Parameters<CustomDomains['add']>[1];

const mostRemovedShown = 20;

/** What else a change of a domain touches. */
export interface DomainSurroundings {
  readonly outbox: MemoryOutbox;
  readonly routes: MemoryProjectRoutes;
  readonly orders: MemoryCertificateOrders;
  readonly edgeRecords: MemoryEdgeRecords;
  readonly timeline: MemoryTimeline;
  readonly ledger: MemoryAuthorityLedger;
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

  override async add(
    { accountId, projectId, host, addedSince }: Wanted,
    decide: Admit,
  ): Promise<CustomDomain> {
    await Promise.resolve();
    const project = this.#around.routes.find(projectId);
    if (project?.accountId !== accountId) throw projectNotFound(projectId);
    const own = this.#all((one) => one.accountId === accountId && isAttached(one));
    const same = own.find((one) => one.host === host);
    const { state, events } = decide({
      current: own.length,
      addedLately: this.#all((one) => one.accountId === accountId && one.addedAt > addedSince).map(
        ({ addedAt }) => addedAt,
      ),
      hasSucceededDeploy: project.servedDeployId !== undefined,
      attachedTo: same && {
        name: this.#around.routes.find(same.projectId)?.name ?? '',
        isThisOne: same.projectId === projectId,
      },
    });
    const tell = this.#around.timeline.prepare(state.id, timelineOf(undefined, events));
    this.#domains.set(state.id, structuredClone(state));
    this.#around.outbox.append(events);
    tell();
    this.#alignRoutes(projectId);
    return state;
  }

  override find(projectId: string, host: string): Promise<CustomDomain | undefined> {
    const found = this.#all((one) => one.projectId === projectId && one.host === host);
    return Promise.resolve(found.find(isAttached) ?? found[0]);
  }

  override get(id: string): Promise<CustomDomain | undefined> {
    return Promise.resolve(structuredClone(this.#domains.get(id)));
  }

  override list(projectId: string): Promise<readonly CustomDomain[]> {
    const domains = this.#all((one) => one.projectId === projectId);
    const removed = domains.filter((one) => !isAttached(one)).slice(0, mostRemovedShown);
    const shown = domains.filter((one) => isAttached(one) || removed.includes(one));
    return Promise.resolve(shown);
  }

  override holderOf(host: string): Promise<CustomDomain | undefined> {
    const [holder] = this.#all((one) => one.host === host && isCertified(one));
    return Promise.resolve(holder);
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
    now: Date,
    decide: (domain: CustomDomain, use: CaUse) => Change,
  ): Promise<Change> {
    await Promise.resolve();
    const { ledger } = this.#around;
    return this.#change(id, (domain) => decide(domain, ledger.useOf(domain, now)));
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
    if (stays && isCertified(state)) throw domainTaken(host);
    // Everything that can fail comes before anything is stored.
    const saves = [
      ...(holder && displaced ? [this.#prepare(holder, displaced)] : []),
      this.#prepare(domain, change),
    ];
    for (const save of saves) save();
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

  override live(after: string, limit: number): Promise<readonly CustomDomain[]> {
    const live = this.#all(({ id, state }) => state === 'live' && id > after);
    return Promise.resolve(live.sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, limit));
  }

  #hold({ id, claim }: HeldDomain, until: Date): void {
    this.#leases.set(id, { claim, until: new Date(until) });
  }

  #isHeld({ id, claim }: HeldDomain): boolean {
    return this.#leases.get(id)?.claim === claim;
  }

  #prepare(from: CustomDomain, change: DomainChange): () => void {
    const { state, events, cause } = change;
    const to = structuredClone(state);
    const tell = this.#around.timeline.prepare(from.id, timelineOf(cause, events));
    return () => {
      tell();
      this.#save(from, { state: to, events });
    };
  }

  #save(from: CustomDomain, { state: to, events }: DomainDecision): void {
    const { outbox, orders, edgeRecords, clock } = this.#around;
    this.#domains.set(from.id, to);
    outbox.append(events);
    if (!isAttached(to)) orders.forgetOrdersOf(from.id);
    // A domain that never held the name had no certificate: the one stored under the name belongs to another.
    if (isCertified(from) && !isCertified(to)) edgeRecords.removeCertificate(to.host, clock.now());
    this.#alignRoutes(to.projectId);
  }

  #alignRoutes(projectId: string): void {
    const { routes, clock } = this.#around;
    const its = this.#all((one) => one.projectId === projectId);
    routes.change(projectId, { hosts: projectHostsOf(its.toReversed()) }, clock.now());
  }

  /** Newest first; copies, which the caller may change. */
  #all(isWanted: (domain: CustomDomain) => boolean): CustomDomain[] {
    const found = [...this.#domains.values()].filter(isWanted);
    return structuredClone(found).sort(newestFirst);
  }
}

const newestFirst = (one: CustomDomain, other: CustomDomain): number =>
  other.addedAt.getTime() - one.addedAt.getTime() || (one.id < other.id ? 1 : -1);

const timeDue = (domain: CustomDomain): number => dueAt(domain)?.getTime() ?? Infinity;
