import { authorityFailureReasons } from '../../src/domains/domain/certificates/certificate-status.ts';
import { caBudgets } from '../../src/domains/domain/certificates/ca-budget.ts';
import {
  customDomainStates,
  removalReasons,
} from '../../src/domains/domain/attachment/custom-domain.ts';
import { dnsProblems, type DnsProblemCode } from '../../src/domains/domain/dns/problem.ts';
import { kinds, ownersKinds } from '../../src/notifications/domain/kinds.ts';
import { processNames, workerNames, type ProcessName } from './fleet.ts';
import type { Stored } from './laws/law.ts';
import { conditions } from './weather.ts';

export interface ReachedRow {
  readonly what: string;
  readonly count: number;
}

/** How an attempt at a certificate can end, according to the timeline. A failure has a reason. */
const attemptEnds = [
  ...['issued', 'came too late, destroyed', 'unanswered', 'left', 'postponed'],
  ...authorityFailureReasons.map((reason) => `failed: ${reason}`),
];

/** Reasons to refuse a name when it is added. Pages show them, but domains never have them. */
const refusals: readonly DnsProblemCode[] = [
  ...(['name_reserved', 'public_suffix', 'ip_literal', 'name_too_long'] as const),
  'wildcard_unsupported',
];
const problemCodes = Object.keys(dnsProblems).filter(
  (code) => !refusals.some((one) => one === code),
);

/** Everything that the code knows. What no story reaches has the count 0. */
const all: readonly string[] = [
  ...customDomainStates.map((state) => `state ${state}`),
  ...problemCodes.map((code) => `problem ${code}`),
  ...Object.keys(caBudgets).map((budget) => `budget ${budget}`),
  ...attemptEnds.map((end) => `attempt ${end}`),
  ...removalReasons.map((reason) => `removal ${reason}`),
  ...Object.keys(kinds).map((kind) => `notice ${kind}`),
  ...Object.entries(conditions).flatMap(([part, its]) =>
    its.map((condition) => `weather ${part} ${condition}`),
  ),
  ...processNames.map((name) => `death of ${name}`),
  ...workerNames.map((name) => `stall of ${name}`),
  ...refusals.map((code) => `refusal ${code}`),
];

interface Domain {
  readonly id: string;
  readonly state: string;
  readonly reason: string | null;
}
interface Numbered {
  readonly row: number;
}
interface Attempt extends Numbered {
  readonly outcome: string | null;
  readonly reason: string | null;
  readonly budget: string | null;
}
interface Told extends Numbered {
  readonly kind: string;
}
interface Problem {
  readonly domain: string;
  readonly code: string;
}

const problems = `
  select d.id as domain, p.value ->> '$.code' as code from domains d, json_each(d.details, '$.dns.report.problems') p
  where d.state <> 'removed'
  union all
  select id, details ->> '$.certificate.work.problem.code' from domains
  where details ->> '$.certificate.work.problem.code' is not null`;

const newAttempts = `
  select id as row, details ->> '$.outcome' as outcome, details ->> '$.reason' as reason,
    details ->> '$.budget' as budget from domain_timeline where id > ? and kind = 'attempt'`;
const newNotices = 'select id as row, kind from notices where id > ?';
const newMails = 'select rowid as row, kind from mails where rowid > ?';

/** Counts what stories reach. A state of a domain counts once each time that the domain newly reaches it. */
export class Reached {
  readonly #counts = new Map(all.map((what) => [what, 0]));
  readonly #states = new Map<string, string>();
  #problems = new Set<string>();
  /** The last row that each query for new rows has read. */
  readonly #lastRows = new Map<string, number>();

  rows(): readonly ReachedRow[] {
    return [...this.#counts].map(([what, count]) => ({ what, count }));
  }

  count(what: string): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
  }

  onWeather([part = '', , condition = '']: readonly string[]): void {
    if (condition !== 'well' && condition !== '') this.count(`weather ${part} ${condition}`);
  }

  onDeath(name: ProcessName): void {
    this.count(`death of ${name}`);
  }

  onCommit(tables: ReadonlySet<string>, stored: Stored): void {
    if (tables.has('domains')) {
      this.#readStates(stored);
      this.#readProblems(stored);
    }
    if (tables.has('domain_timeline')) this.#readAttempts(stored);
    if (tables.has('notices')) this.#readNotices(stored);
    if (tables.has('mails')) this.#readMails(stored);
  }

  #readStates(stored: Stored): void {
    const rows = stored.rows<Domain>(
      `select id, state, case state when 'removed' then details ->> '$.reason' end as reason from domains`,
    );
    for (const { id, state, reason } of rows) {
      if (this.#states.get(id) === state) continue;
      this.#states.set(id, state);
      this.count(`state ${state}`);
      if (reason !== null) this.count(`removal ${reason}`);
    }
  }

  #readProblems(stored: Stored): void {
    const found = new Set<string>();
    for (const { domain, code } of stored.rows<Problem>(problems)) {
      const key = `${domain} ${code}`;
      if (!found.has(key) && !this.#problems.has(key)) this.count(`problem ${code}`);
      found.add(key);
    }
    this.#problems = found;
  }

  #readAttempts(stored: Stored): void {
    for (const { outcome, reason, budget } of this.#newRows<Attempt>(stored, newAttempts)) {
      this.count(`attempt ${outcome ?? ''}${reason === null ? '' : `: ${reason}`}`);
      if (budget !== null) this.count(`budget ${budget}`);
    }
  }

  #readNotices(stored: Stored): void {
    for (const { kind } of this.#newRows<Told>(stored, newNotices)) this.count(`notice ${kind}`);
  }

  /** Personal messages exist only as mails. */
  #readMails(stored: Stored): void {
    for (const { kind } of this.#newRows<Told>(stored, newMails)) {
      if (isPersonal(kind)) this.count(`notice ${kind}`);
    }
  }

  #newRows<Row extends Numbered>(stored: Stored, sql: string): readonly Row[] {
    const last = this.#lastRows.get(sql) ?? 0;
    const rows = stored.rows<Row>(sql, last);
    this.#lastRows.set(sql, Math.max(last, ...rows.map(({ row }) => row)));
    return rows;
  }
}

const isPersonal = (kind: string): boolean => !ownersKinds.some((owners) => owners === kind);
