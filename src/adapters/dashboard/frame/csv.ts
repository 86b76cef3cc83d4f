import { pipeline, Readable } from 'node:stream';
import { stringify } from 'csv-stringify';
import type { Context } from 'koa';

export type CsvColumn<Thing> = readonly [
  heading: string,
  cell: (thing: Thing) => string | number | bigint | undefined,
];

/**
 * Sends a CSV file (RFC 4180, with a byte order mark for spreadsheets) while the things are read. A cell that a
 * spreadsheet would read as a formula gets an apostrophe in front.
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
  // If the client disconnects, reading from the database stops too.
  pipeline(Readable.from(rowsOf(things, columns)), text, () => undefined);
  ctx.body = text;
};

async function* rowsOf<Thing>(
  things: AsyncIterable<Thing> | Iterable<Thing>,
  columns: readonly CsvColumn<Thing>[],
): AsyncGenerator<readonly (string | number | bigint | undefined)[]> {
  for await (const thing of things) yield columns.map(([, cell]) => cell(thing));
}

/** The database returns this many things at once for a file. */
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

/** Matches what spreadsheets read as a formula, and cells that would look escaped. */
const escaped = /^'*[=+\-@\t\r＝＋－＠]/;

const withApostrophe = (cell: string): string => (escaped.test(cell) ? `'${cell}` : cell);

export const withoutApostrophe = (cell: string): string =>
  cell.startsWith("'") && escaped.test(cell) ? cell.slice(1) : cell;
