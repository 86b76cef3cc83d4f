import { migrationTable, type CopyFacts } from './copy-facts.ts';

const text = /'(?:[^'\\]|\\.)*'/gs;
/** How each row of `deploys` begins: id, project, number, state. */
const deploy = /\('([\w-]+)','[\w-]+',\d+,'(\w+)'/g;
const migration = /\('([^'\\]+)','/g;

/**
 * Reads what a dump holds while it is written: the server tells nobody which state its program has seen. A dump has
 * line ends only between rows, because it escapes those in values.
 */
export class DumpFacts {
  readonly #rows: Record<string, number> = {};
  readonly #deploys: string[] = [];
  readonly #migrations: string[] = [];
  #statesOfDeploys = 0;
  /** The table that rows are inserted into. */
  #table: string | undefined;
  #unread: string[] = [];
  #isWhole = false;

  read(chunk: Uint8Array): void {
    // Each byte is one character: what is looked for is ASCII, which is part of no other character in UTF-8.
    const [first = '', ...rest] = Buffer.from(chunk).toString('latin1').split('\n');
    this.#unread.push(first);
    for (const begun of rest) {
      this.#line(this.#unread.join(''));
      this.#unread = [begun];
    }
  }

  /** @throws Error when the dump is not whole, or not as expected */
  facts(): CopyFacts {
    if (!this.#isWhole) throw new Error('the dump ends too early');
    if (this.#statesOfDeploys !== this.#rows['deploys']) {
      throw new Error('the rows of deploys in the dump cannot be read');
    }
    return {
      rows: this.#rows,
      migrations: this.#migrations.toSorted(),
      deploys: this.#deploys.toSorted(),
    };
  }

  #line(line: string): void {
    if (line.startsWith('-- Dump completed')) this.#isWhole = true;
    const [, created] = /^CREATE TABLE `(\w+)`/.exec(line) ?? [];
    if (created !== undefined) this.#rows[created] = 0;
    const [intro = '', filled] = /^INSERT INTO `(\w+)` VALUES/.exec(line) ?? [];
    this.#table = filled ?? this.#table;
    if (this.#table === undefined) return;
    this.#readRows(this.#table, line.slice(intro.length));
    if (line.endsWith(';')) this.#table = undefined;
  }

  #readRows(table: string, rows: string): void {
    const found = rows.replaceAll(text, '').split('(').length - 1;
    this.#rows[table] = (this.#rows[table] ?? 0) + found;
    if (table === migrationTable) {
      for (const [, name = ''] of rows.matchAll(migration)) this.#migrations.push(name);
    }
    if (table !== 'deploys') return;
    for (const [, id = '', state] of rows.matchAll(deploy)) {
      this.#statesOfDeploys += 1;
      if (state === 'succeeded') this.#deploys.push(id);
    }
  }
}
