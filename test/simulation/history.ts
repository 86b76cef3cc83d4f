import SqliteDatabase from 'better-sqlite3';
import { DomainsKey } from '../../src/app/keys.ts';
import { shopNames, shopOf, type ShopName } from './shops.ts';
import type { SimulatedProcess } from './fleet.ts';
import type { Owners } from './owners.ts';
import { authorityNames, type World } from './world/world.ts';
import { dayMs, hourMs } from './world/durations.ts';

export interface HistoryPorts {
  readonly world: World;
  readonly owners: Owners;
  readonly api: () => SimulatedProcess | undefined;
  readonly databaseFile: string;
}

interface Entry {
  readonly at: number;
  readonly what: string;
}

interface StoredNotice {
  readonly account: string;
  readonly kind: string;
  readonly at: number;
}

/**
 * Events of names and accounts, to the hour and without ids, so that two versions of src that only reorder statements
 * write the same history.
 */
export class History {
  readonly #ports: HistoryPorts;
  readonly #entries = new Map<string, Entry[]>();
  readonly #standing = new Map<string, string>();

  constructor(ports: HistoryPorts) {
    this.#ports = ports;
  }

  /** @param outcome `done`, or the reason of a failure */
  answered(
    shop: ShopName,
    at: number,
    { words, outcome }: { readonly words: readonly string[]; readonly outcome: string },
  ): void {
    this.#tell(shop, at, `${words.join(' ')}: ${outcome}`);
  }

  async look(now: number): Promise<void> {
    const domains = this.#ports.api()?.container.get(DomainsKey);
    if (!domains) return;
    for (const { name, project } of this.#ports.owners.shops.values()) {
      const listed = await domains.listDomains(project.id);
      const { document } = await domains.showDomainSettings(project.id, listed);
      this.#stand(`primary of ${name}`, document.domains.primary ?? 'none', now);
      // The newest attachment of a name is listed first.
      for (const domain of listed.toReversed()) {
        const { host, state, certificate, dns } = domain;
        const problems = (dns.report?.problems ?? []).map(({ code }) => code).toSorted();
        const reason = state === 'removed' ? ` (${domain.reason})` : '';
        const certified = `certificate ${certificate.kind}`;
        const standing = [`${state}${reason}`, certified, ...problems].join(', ');
        this.#stand(`${host} of ${name}`, standing, now);
      }
    }
  }

  /** @param begun the start of the story in epoch milliseconds */
  text(begun: number): string {
    this.#readWorld();
    const subjects = [...this.#entries].toSorted(([one], [other]) => (one < other ? -1 : 1));
    return subjects
      .map(([subject, entries]) => `${subject}\n${textOf(entries, begun).join('')}`)
      .join('');
  }

  #readWorld(): void {
    const { world, owners } = this.#ports;
    for (const name of authorityNames) {
      const { orders, certificates, over } = world.authorities[name];
      const tell = (at: number, what: string) => {
        this.#tell(`authority ${name}`, at, what);
      };
      for (const { at, names } of orders) tell(at, `order for ${names.join(' ')}`);
      for (const { notBefore, notAfter, names } of certificates) {
        const days = (notAfter - notBefore) / dayMs;
        tell(notBefore + hourMs, `certificate for ${names.join(' ')}, ${days.toFixed(0)} days`);
      }
      for (const { at, limit } of over) tell(at, `refuses: ${limit}`);
    }
    for (const { to, told, at } of world.mail.taken)
      this.#tell(shopMailed(to), at.getTime(), `mail: ${told.map(({ kind }) => kind).join(' ')}`);
    for (const { accountId, type, at } of world.receivers.received) {
      const shop = [...owners.shops.values()].find((one) => one.accountId === accountId);
      this.#tell(shop?.name ?? 'nobody', at.getTime(), `webhook: ${type}`);
    }
    for (const { account, kind, at } of this.#notices()) this.#tell(account, at, `notice: ${kind}`);
    for (const { shop, at, answers } of owners.bursts) {
      const byStatus = Object.entries(Object.groupBy(answers, ({ status }) => String(status)));
      const counts = byStatus.map(([status, all = []]) => `${String(all.length)} × ${status}`);
      this.#tell(shop, at, `burst: ${counts.join(', ')}`);
    }
  }

  #notices(): readonly StoredNotice[] {
    const database = new SqliteDatabase(this.#ports.databaseFile, { readonly: true });
    try {
      return database
        .prepare<[], StoredNotice>(
          `select accounts.name as account, kind, occurred_at as at
           from notices join accounts on accounts.id = notices.account_id`,
        )
        .all();
    } finally {
      database.close();
    }
  }

  #stand(subject: string, standing: string, now: number): void {
    if (this.#standing.get(subject) === standing) return;
    this.#standing.set(subject, standing);
    this.#tell(subject, now, standing);
  }

  #tell(subject: string, at: number, what: string): void {
    const entries = this.#entries.get(subject) ?? [];
    this.#entries.set(subject, entries);
    entries.push({ at, what });
  }
}

const shopMailed = (address: string): string =>
  shopNames.find((shop) => address.endsWith(`@${shopOf(shop).zone}`)) ?? address;

/** Events within one hour have no order. */
const textOf = (entries: readonly Entry[], begun: number): readonly string[] => {
  const lines = entries.map(({ at, what }) => {
    const hours = Math.floor((at - begun) / hourMs);
    return { hours, line: `${dayAndHour(hours)} ${what}\n` };
  });
  return lines
    .toSorted((one, other) => one.hours - other.hours || (one.line < other.line ? -1 : 1))
    .map(({ line }) => line);
};

const dayAndHour = (hours: number): string =>
  `${String(Math.floor(hours / 24)).padStart(5)} ${String(hours % 24).padStart(2, '0')}h`;

interface Column {
  readonly name: string;
  /** Position in the primary key, from 1; 0 for other columns. */
  readonly pk: number;
}

export const storedText = (file: string): string => {
  const database = new SqliteDatabase(file, { readonly: true });
  try {
    const tables = database
      .prepare(`select name from sqlite_schema where type = 'table' order by name`)
      .pluck()
      .all() as readonly string[];
    return tables.map((table) => `${table}\n${rowsOf(database, table)}`).join('');
  } finally {
    database.close();
  }
};

const rowsOf = (database: SqliteDatabase.Database, table: string): string => {
  const columns = database.pragma(`table_info("${table}")`) as readonly Column[];
  const key = columns.filter(({ pk }) => pk > 0).toSorted((one, other) => one.pk - other.pk);
  const order = (key.length > 0 ? key : columns).map(({ name }) => `"${name}"`).join();
  const rows = database.prepare(`select * from "${table}" order by ${order}`).safeIntegers().raw();
  return rows
    .all()
    .map((row) => `${JSON.stringify(row, withWholeNumbers)}\n`)
    .join('');
};

const withWholeNumbers = (_key: string, value: unknown): unknown =>
  typeof value === 'bigint' ? String(value) : value;
