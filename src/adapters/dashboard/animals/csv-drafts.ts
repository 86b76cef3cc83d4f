import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import * as v from 'valibot';
import type { PetDraft } from '../../../catalogue/domain/pet.ts';
import { withoutApostrophe } from '../frame/csv.ts';
import { count } from '../frame/parts.ts';
import { type DraftField, draftFieldNames, petDraft } from './draft.ts';

export const csvLimits = { lines: 10_000, bytes: 4 * 1024 * 1024 } as const;

const longestLine = 4096;

export interface WrongLine {
  readonly line: number;
  readonly problem: string;
}

export type CsvDrafts =
  | { readonly kind: 'drafts'; readonly drafts: readonly PetDraft[] }
  | { readonly kind: 'refused'; readonly wrong: readonly WrongLine[] };

const refused = (line: number, problem: string): CsvDrafts => ({
  kind: 'refused',
  wrong: [{ line, problem }],
});

interface CsvRecord {
  readonly record: readonly string[];
  readonly info: { readonly lines: number };
}

/** Reads the animals of a file, or says which lines are wrong and why. Does not block the process. */
export const draftsIn = async (file: Buffer): Promise<CsvDrafts> => {
  if (!isUtf8(file)) {
    return refused(1, 'The file is not in UTF-8. In Excel, save it as “CSV UTF-8”.');
  }
  try {
    return await readRecords(recordsOf(file));
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    return refused(
      Number(error['lines'] ?? 1),
      csvProblems[error.code] ?? 'This is not a CSV file.',
    );
  }
};

const csvProblems: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'A quotation mark is not closed.',
  CSV_MAX_RECORD_SIZE: `A line has at most ${count(longestLine)} characters.`,
  CSV_INVALID_CLOSING_QUOTE: 'After a closing quotation mark comes a comma or the end of the line.',
  INVALID_OPENING_QUOTE:
    'There is a quotation mark inside a cell. Double it, and put the whole cell in quotation marks.',
};

const pieceBytes = 64 * 1024;

/** Spreadsheets write semicolons where the comma is the decimal sign. No column name contains one. */
const recordsOf = (file: Buffer): AsyncIterable<CsvRecord> => {
  // The parser miscounts lines in files that mix different line ends.
  const lines = Buffer.from(file.toString().replace(/\r\n?/g, '\n'));
  const [head = ''] = lines.subarray(0, longestLine).toString().split('\n', 1);
  const pieces = Array.from({ length: Math.ceil(lines.length / pieceBytes) }, (_, at) =>
    lines.subarray(at * pieceBytes, (at + 1) * pieceBytes),
  );
  return Readable.from(pieces).pipe(
    parse({
      bom: true,
      delimiter: head.includes(';') ? ';' : ',',
      info: true,
      max_record_size: longestLine,
      relax_column_count: true,
      skip_empty_lines: true,
    }),
  );
};

const readRecords = async (records: AsyncIterable<CsvRecord>): Promise<CsvDrafts> => {
  let columns: readonly (DraftField | undefined)[] | undefined;
  const drafts: PetDraft[] = [];
  const wrong: WrongLine[] = [];
  for await (const { record, info } of records) {
    if (columns === undefined) {
      const read = columnsIn(record);
      if (typeof read === 'string') return refused(1, read);
      columns = read;
      continue;
    }
    if (drafts.length + wrong.length === csvLimits.lines) {
      return refused(info.lines, `A file has at most ${count(csvLimits.lines)} animals.`);
    }
    const draft = draftIn(columns, record);
    if (typeof draft === 'string') wrong.push({ line: info.lines, problem: draft });
    else drafts.push(draft);
  }
  if (wrong.length > 0) return { kind: 'refused', wrong };
  return drafts.length === 0 ? refused(1, 'The file has no animals.') : { kind: 'drafts', drafts };
};

const known = new Map<string, DraftField>(
  draftFieldNames.map((field) => [field.toLowerCase(), field]),
);

const columnsIn = (head: readonly string[]): readonly (DraftField | undefined)[] | string => {
  const names = head.map((name) => name.trim().toLowerCase());
  if (names.includes('id')) {
    return 'Delete the column “id”: each line adds a new animal, which gets an id of its own.';
  }
  const unknown = names.find((name) => name !== '' && !known.has(name));
  const isWhole = names.includes('name') && names.includes('categoryid');
  if (unknown !== undefined || !isWhole || new Set(names).size < names.length) {
    return 'The first line names the columns: name, categoryId, and status if you want.';
  }
  return names.map((name) => known.get(name));
};

const draftIn = (
  columns: readonly (DraftField | undefined)[],
  cells: readonly string[],
): PetDraft | string => {
  if (cells.length > columns.length) return 'There are more cells than columns.';
  const fields = columns.flatMap((field, at) => {
    const cell = withoutApostrophe(cells[at] ?? '').trim();
    const isLeftOut = field === undefined || (field === 'status' && cell === '');
    return isLeftOut ? [] : [[field, cell] as const];
  });
  const read = v.safeParse(petDraft, Object.fromEntries(fields));
  return read.success ? read.output : read.issues[0].message;
};
