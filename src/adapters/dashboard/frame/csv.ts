import { pipeline, Readable } from 'node:stream';
import { stringify } from 'csv-stringify';
import type { Context } from 'koa';

export type CsvColumn<Thing> = readonly [
  heading: string,
  cell: (thing: Thing) => string | number | bigint | undefined,
];

/**
 * Answers with a file of all these things, which is sent while they are read. As spreadsheets open it (RFC 4180, with a
 * byte order mark); a cell that would be a formula there begins with an apostrophe.
 */
export const sendCsv = <Thing>(
  ctx: Context,
  { name, columns }: { readonly name: string; readonly columns: readonly CsvColumn<Thing>[] },
  things: AsyncIterable<Thing> | Iterable<Thing>,
): void => {
  ctx.type = 'text/csv; charset=utf-8';
  ctx.set('Content-Disposition', `attachment; filename="${name}.csv"`);
  const text = stringify({
    header: true,
    columns: columns.map(([heading]) => heading),
    bom: true,
    record_delimiter: 'windows',
    cast: { bigint: String, string: withApostrophe },
  });
  // Whoever stops reading ends the reading from the database, too.
  pipeline(Readable.from(rowsOf(things, columns)), text, () => undefined);
  ctx.body = text;
};

async function* rowsOf<Thing>(
  things: AsyncIterable<Thing> | Iterable<Thing>,
  columns: readonly CsvColumn<Thing>[],
): AsyncGenerator<readonly (string | number | bigint | undefined)[]> {
  for await (const thing of things) yield columns.map(([, cell]) => cell(thing));
}

/** Things that a page of a file has: so many are read at once. */
export const csvPage = 500;

export async function* allPages<Thing>(
  read: (last: Thing | undefined) => Promise<readonly Thing[]>,
): AsyncGenerator<Thing> {
  for (let last: Thing | undefined; ;) {
    const page = await read(last);
    yield* page;
    last = page.at(-1);
    if (page.length < csvPage) return;
  }
}

/** What a spreadsheet takes for a formula, and what would be read as escaped. */
const escaped = /^'*[=+\-@\t\r＝＋－＠]/;

const withApostrophe = (cell: string): string => (escaped.test(cell) ? `'${cell}` : cell);

export const withoutApostrophe = (cell: string): string =>
  cell.startsWith("'") && escaped.test(cell) ? cell.slice(1) : cell;
