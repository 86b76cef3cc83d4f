import type { People } from '../../src/access/people-ports.ts';
import { subjectOf } from '../../src/notifications/domain/kinds.ts';
import { endOf } from '../../src/notifications/domain/mail-attempts.ts';
import { inTurns } from '../../src/notifications/domain/mail-turns.ts';
import {
  plannedSince,
  type Mail,
  type MailedFacts,
  type MailPlan,
  type PlannedMail,
} from '../../src/notifications/domain/mail.ts';
import {
  Mails,
  mostMailsCounted,
  type ClaimedMessage,
  type MailState,
  type DueMessage,
  type GivenUp,
  type MailTrouble,
  type MostClaimed,
} from '../../src/notifications/mail-ports.ts';

interface Entry {
  /** Undefined once it is done. */
  readonly mail: Mail | undefined;
  readonly accountId: string;
  readonly personId: string;
  readonly planned: PlannedMail;
  readonly attempts: number;
  readonly claim: string | undefined;
  /** Undefined once it is done. */
  readonly dueAt: Date | undefined;
  readonly ending: 'sent' | 'given_up' | 'left_out' | undefined;
  readonly endedAt: Date | undefined;
}

/** Any claim, where none is given. */
type Claimed = Pick<ClaimedMessage, 'id'> & Partial<ClaimedMessage>;

export class MemoryMails extends Mails {
  readonly #people: Pick<People, 'find' | 'list'>;
  readonly #entries = new Map<string, Entry>();
  #claims = 0;
  readonly #troubles = new Map<string, MailTrouble>();

  constructor(people: Pick<People, 'find' | 'list'>) {
    super();
    this.#people = people;
  }

  override async add(
    mail: Mail,
    now: Date,
    plan: (before: readonly PlannedMail[]) => MailPlan,
  ): Promise<void> {
    const { id, personId, accountId } = mail;
    const person = await this.#people.find(personId);
    if (person?.accountId !== accountId || this.#entries.has(id)) return;
    const wanted = plan(structuredClone(this.#plannedFor(personId, now)));
    if (wanted && 'cancels' in wanted) await this.leaveOut({ id: wanted.cancels }, now);
    const planned = wanted && 'message' in wanted ? wanted : undefined;
    const { message = id, sendAt = now } = planned ?? {};
    const kept = { kind: mail.kind, subject: subjectOf(mail), message, sendAt, isOpen: true };
    this.#entries.set(
      id,
      structuredClone({
        ...{
          mail: planned && mail,
          accountId,
          personId,
          planned: kept,
          attempts: 0,
          claim: undefined,
          dueAt: planned?.sendAt,
        },
        ...{ ending: planned ? undefined : 'left_out', endedAt: planned ? undefined : now },
      }),
    );
  }

  override async claim(
    now: Date,
    leaseUntil: Date,
    { limit, lately = [] }: MostClaimed,
  ): Promise<readonly DueMessage[]> {
    const people = await this.#stillThere();
    const due = [...this.#entries.values()]
      .filter(({ dueAt, personId }) => dueAt && dueAt <= now && people.has(personId))
      .sort((one, other) => Number(one.dueAt) - Number(other.dueAt));
    const mails = due.map(({ accountId, planned: { message, subject } }) => ({
      ...{ message, accountId, isPersonal: subject === undefined },
    }));
    const messages = inTurns(mails, lately, limit);
    const claim = `claim_${(this.#claims += 1)}`;
    for (const message of messages) {
      this.#change({ id: message }, (entry) => ({
        ...{ ...entry, claim, dueAt: leaseUntil, planned: { ...entry.planned, isOpen: false } },
      }));
    }
    return messages.map((id) => this.#messageOf(id));
  }

  override async sent(message: Claimed, now: Date): Promise<void> {
    const personId = await this.#end(message, 'sent', now);
    if (personId !== undefined) this.#troubles.delete(personId);
  }

  override retry(message: Claimed, nextAttemptAt: Date): Promise<void> {
    this.#change(message, (entry) => ({
      ...{ ...entry, claim: undefined, dueAt: nextAttemptAt, attempts: entry.attempts + 1 },
    }));
    return Promise.resolve();
  }

  override async giveUp(message: Claimed, now: Date, { kind, reason }: GivenUp): Promise<void> {
    const personId = await this.#end(message, 'given_up', now);
    if (personId === undefined) return;
    const refusal = kind === 'refused' ? reason : undefined;
    const since = this.#troubles.get(personId)?.since ?? now;
    this.#troubles.set(personId, structuredClone({ personId, since, refusal }));
  }

  override async leaveOut(message: Claimed, now: Date): Promise<void> {
    await this.#end(message, 'left_out', now);
  }

  override async state(now: Date): Promise<MailState> {
    const people = await this.#stillThere();
    const late = [...this.#entries.values()]
      .filter(({ personId }) => people.has(personId))
      .filter(({ dueAt, planned }) => dueAt !== undefined && planned.sendAt <= now)
      .map(({ planned }) => planned.sendAt)
      .toSorted((one, other) => one.getTime() - other.getTime());
    const waiting = Math.min(late.length, mostMailsCounted);
    return { waiting, oldest: late[0], unreached: this.#troubles.size };
  }

  override async troubles(accountId: string): Promise<readonly MailTrouble[]> {
    const people = await this.#people.list(accountId);
    const ids = people.map(({ id }) => id).sort();
    const found = ids.flatMap((id) => this.#troubles.get(id) ?? []);
    return structuredClone(found);
  }

  sweep(before: Date): Promise<number> {
    const old = [...this.#entries].filter(([, { planned }]) => planned.sendAt < before);
    for (const [id] of old) this.#entries.delete(id);
    return Promise.resolve(old.length);
  }

  async sweepTroubles(before: Date): Promise<number> {
    let swept = 0;
    for (const { personId, since } of this.#troubles.values()) {
      if (since >= before || (await this.#people.find(personId))) continue;
      this.#troubles.delete(personId);
      swept += 1;
    }
    return swept;
  }

  #plannedFor(personId: string, now: Date): readonly PlannedMail[] {
    return [...this.#entries.values()]
      .filter((entry) => entry.personId === personId && entry.planned.sendAt > plannedSince(now))
      .filter(({ ending }) => ending === undefined || ending === 'sent')
      .map(({ planned }) => planned);
  }

  async #stillThere(): Promise<ReadonlySet<string>> {
    const ids = [...new Set([...this.#entries.values()].map(({ personId }) => personId))];
    const people = await Promise.all(ids.map((id) => this.#people.find(id)));
    return new Set(people.flatMap((person) => person?.id ?? []));
  }

  #messageOf(id: string): DueMessage {
    const mails = this.#of(id).toSorted(inOrder);
    const { accountId, personId, to } = mails[0]!;
    const tells = () =>
      mails.map(({ kind, about, occurredAt }) => ({ kind, about, occurredAt }) as MailedFacts);
    const attempts = this.#entries.get(id)?.attempts ?? 0;
    const { sendAt } = this.#entries.get(id)!.planned;
    const until = endOf(mails[0]!, sendAt);
    const claim = this.#entries.get(id)?.claim ?? '';
    return {
      id,
      claim,
      accountId,
      personId,
      to,
      attempts,
      until,
      tells: () => structuredClone(tells()),
    };
  }

  #of(message: string, by?: string): readonly Mail[] {
    return [...this.#entries.values()].flatMap(({ mail, planned, claim }) =>
      mail && planned.message === message && (by ?? claim) === claim ? [mail] : [],
    );
  }

  async #end(
    message: Claimed,
    ending: NonNullable<Entry['ending']>,
    now: Date,
  ): Promise<string | undefined> {
    const [mail] = this.#of(message.id, message.claim);
    const person = mail && (await this.#people.find(mail.personId));
    if (!person) return undefined;
    const endedAt = new Date(now);
    const done = { mail: undefined, claim: undefined, dueAt: undefined, ending, endedAt };
    this.#change(message, (entry) => ({ ...entry, ...done }));
    return person.id;
  }

  /** Of those that are not done. */
  #change({ id: message, claim }: Claimed, change: (entry: Entry) => Entry): void {
    for (const [id, entry] of this.#entries) {
      const isClaimed = claim === undefined || entry.claim === claim;
      if (entry.mail && entry.planned.message === message && isClaimed) {
        this.#entries.set(id, structuredClone(change(entry)));
      }
    }
  }
}

const inOrder = (one: Mail, other: Mail): number =>
  one.occurredAt.getTime() - other.occurredAt.getTime() || (one.id < other.id ? -1 : 1);
