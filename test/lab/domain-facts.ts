import { inspect } from 'node:util';
import type { CustomDomainState } from '../../src/domains/domain/attachment/custom-domain.ts';
import { Database } from '../../src/adapters/kysely/database.ts';

/** Reads custom domains from a service's database, which is faster than a command. */
export class DomainFacts {
  readonly #database: Database;

  constructor(url: string) {
    this.#database = new Database(url);
  }

  /** States of all attachments of a host, oldest first. */
  async states(host: string): Promise<readonly string[]> {
    const rows = await this.#db
      .selectFrom('domains')
      .select('state')
      .where('host', '=', host)
      .orderBy('added_at')
      .execute();
    return rows.map(({ state }) => state);
  }

  /**
   * The time by which something is done for each of these hosts that are not live yet; undefined while one
   * of them is in progress or due, or if nothing is scheduled.
   * @param states hosts in these states instead
   */
  async restUntil(
    hosts: readonly string[],
    now: Date,
    states: readonly CustomDomainState[] = ['added', 'verified'],
  ): Promise<Date | undefined> {
    const rows = await this.#db
      .selectFrom('domains')
      .select(['due_at', 'claim'])
      .where('host', 'in', hosts)
      .where('state', 'in', states)
      .where('due_at', 'is not', null)
      .execute();
    const isAtRest = ({ claim, due_at }: (typeof rows)[number]) =>
      claim === null && Number(due_at) > now.getTime();
    const times = rows.map(({ due_at }) => Number(due_at));
    return rows.length > 0 && rows.every(isAtRest) ? new Date(Math.max(...times)) : undefined;
  }

  /** The kinds of all notices of an account, oldest first. */
  async notices(accountId: string): Promise<readonly string[]> {
    const rows = await this.#db
      .selectFrom('notices')
      .select('kind')
      .where('account_id', '=', accountId)
      .orderBy('id')
      .execute();
    return rows.map(({ kind }) => kind);
  }

  /** The events and attachments of a host, in words. */
  async story(host: string): Promise<string> {
    const domains = await this.#db
      .selectFrom('domains')
      .selectAll()
      .where('host', '=', host)
      .execute();
    const told = await this.#db
      .selectFrom('domain_timeline')
      .innerJoin('domains', 'domains.id', 'domain_timeline.domain_id')
      .selectAll('domain_timeline')
      .where('domains.host', '=', host)
      .orderBy('domain_timeline.id')
      .execute();
    return inspect({ domains, told }, { depth: null });
  }

  /** The kinds of all timeline entries of a host, oldest first. */
  async stepsOf(host: string): Promise<readonly string[]> {
    const rows = await this.#db
      .selectFrom('domain_timeline')
      .innerJoin('domains', 'domains.id', 'domain_timeline.domain_id')
      .select('domain_timeline.kind')
      .where('domains.host', '=', host)
      .orderBy('domain_timeline.id')
      .execute();
    return rows.map(({ kind }) => kind);
  }

  /** The outcomes of attempts at certificates for a host, oldest first; see `workOnCertificate`. */
  async outcomes(host: string): Promise<readonly unknown[]> {
    const rows = await this.#db
      .selectFrom('domain_timeline')
      .innerJoin('domains', 'domains.id', 'domain_timeline.domain_id')
      .select('domain_timeline.details')
      .where('domains.host', '=', host)
      .where('domain_timeline.kind', '=', 'attempt')
      .orderBy('domain_timeline.id')
      .execute();
    return rows.map(({ details }) => (JSON.parse(details) as { outcome: unknown }).outcome);
  }

  /** The number of stored private keys of a host, for certificates and orders. */
  async privateKeys(host: string): Promise<number> {
    const [certificates, orders] = await Promise.all(
      (['certificates', 'certificate_orders'] as const).map((table) =>
        this.#db
          .selectFrom(table)
          .select('host')
          .where('host', '=', host)
          .where('private_key', 'is not', null)
          .execute(),
      ),
    );
    return (certificates?.length ?? 0) + (orders?.length ?? 0);
  }

  close(): Promise<void> {
    return this.#database.close();
  }

  get #db() {
    return this.#database.root;
  }
}
