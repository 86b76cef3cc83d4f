import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { draftsIn, type CsvDrafts } from '../../../src/adapters/dashboard/animals/csv-drafts.ts';
import { sendCsv } from '../../../src/adapters/dashboard/frame/csv.ts';
import { isPetName } from '../../../src/catalogue/domain/pet.ts';

const read = (text: string): Promise<CsvDrafts> => draftsIn(Buffer.from(text));
const head = 'name,categoryId,status\n';
const rex = { name: 'Rex', categoryId: 7n, status: 'available' } as const;

describe('a file of animals', () => {
  test.each([
    ['as programs write it', 'name,categoryId\nRex,7\n'],
    [
      'with a byte order mark and lines that end as on Windows',
      '\uFEFFname,categoryId\r\nRex,7\r\n',
    ],
    ['without an end of the last line', 'name,categoryId\nRex,7'],
    ['as a spreadsheet with decimal commas writes it', 'name;categoryId;status\nRex;7;available\n'],
    ['with other columns first, and in capitals', 'Status,CATEGORYID,Name\n,7,Rex\n'],
    ['with empty lines and spaces around cells', '\nname , categoryId\n\n Rex , 7 \n\n'],
    ['with quotation marks', '"name","categoryId"\n"Rex","7"\n'],
    ['with an empty column at its end', 'name,categoryId,\nRex,7,\n'],
  ])('is read %s', async (_, text) => {
    expect(await read(text)).toEqual({ kind: 'drafts', drafts: [rex] });
  });

  test('keeps every letter and digit of its content', async () => {
    const text = `${head}"Bella, ""the second""",9223372036854775807,sold\n'=Rex,7,pending\n`;
    expect(await read(text)).toEqual({
      kind: 'drafts',
      drafts: [
        { name: 'Bella, "the second"', categoryId: 9223372036854775807n, status: 'sold' },
        { name: '=Rex', categoryId: 7n, status: 'pending' },
      ],
    });
  });

  test.each(['\n', '\r\n'])(
    'with invalid lines is refused, with the number of each: %j',
    async (end) => {
      const lines = [
        'Rex,7,available',
        ',7,',
        'Rex,9223372036854775808,',
        'Rex,0,',
        'Rex,1.0,',
        'Rex,7,lost',
        '"Rex\nand Max",7,',
        'Rex',
        'Rex,7,sold,more',
        `${'x'.repeat(256)},7,`,
      ];
      const asked = head + lines.join('\n').replaceAll('\n', end);
      const found = await read(asked);
      const category = expect.stringContaining('A category id is a whole number from 1 to');
      const name = expect.stringContaining('A name has 1 to 255 characters');
      expect(found).toEqual({
        kind: 'refused',
        wrong: [
          { line: 3, problem: name },
          ...[4, 5, 6].map((line) => ({ line, problem: category })),
          { line: 7, problem: 'A status is available, pending or sold.' },
          { line: 9, problem: name },
          { line: 10, problem: category },
          { line: 11, problem: 'There are more cells than columns.' },
          { line: 12, problem: name },
        ],
      });
    },
  );

  test.each([
    ['', /no animals/],
    ['name,categoryId\n', /no animals/],
    ['Rex,7\n', /The first line names the columns/],
    ['name,status\nRex,sold\n', /The first line names the columns/],
    ['name,name,categoryId\nRex,Max,7\n', /The first line names the columns/],
    ['name,categoryId,price\nRex,7,9\n', /The first line names the columns/],
    ['id,name,categoryId,status\n1,Rex,7,sold\n', /Delete the column “id”/],
    [`${head}"Rex,7,sold\n`, /A quotation mark is not closed/],
    [`${head}"Rex"x,7,sold\n`, /After a closing quotation mark/],
    [`${head}R"ex,7,sold\n`, /inside a cell/],
  ])('that does not list animals is refused: %j', async (text, problem) => {
    const { wrong } = (await read(text)) as Extract<CsvDrafts, { kind: 'refused' }>;
    expect(wrong).toEqual([{ line: expect.any(Number), problem: expect.stringMatching(problem) }]);
  });

  test('with too much content is refused', async () => {
    const long = await read(`${head}${'x'.repeat(5000)},7,sold\n`);
    expect(long).toMatchObject({ wrong: [{ problem: 'A line has at most 4,096 characters.' }] });
    const many = await read(`${head}${'Rex,7,sold\n'.repeat(10_001)}`);
    const problem = 'A file has at most 10,000 animals.';
    expect(many).toMatchObject({ wrong: [{ line: 10_002, problem }] });
  });

  test('has up to 10,000 animals', async () => {
    const { drafts } = (await read(`${head}${'Rex,7,sold\n'.repeat(10_000)}`)) as Extract<
      CsvDrafts,
      { kind: 'drafts' }
    >;
    expect(drafts).toHaveLength(10_000);
  });

  test('is refused in any encoding except UTF-8', async () => {
    const latin1 = Buffer.from(`${head}Zoë,7,sold\n`, 'latin1');
    expect(await draftsIn(latin1)).toMatchObject({ kind: 'refused', wrong: [{ line: 1 }] });
  });
});

describe('a list as CSV', () => {
  const written = async (names: readonly string[]): Promise<string> => {
    const ctx = { set: () => undefined } as unknown as Parameters<typeof sendCsv>[0];
    const columns = [
      ['name', (name: string) => name],
      ['categoryId', () => 7n],
    ] as const;
    sendCsv(ctx, { name: 'animals', columns }, names);
    let text = '';
    for await (const chunk of ctx.body as AsyncIterable<Buffer>) text += chunk.toString();
    return text;
  };

  test.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '＝1', "'=1", "''+1"])(
    'contains no formula: %j is text',
    async (name) => {
      expect(await written([name])).toBe(`\uFEFFname,categoryId\r\n'${name},7\r\n`);
    },
  );

  test('is read back exactly as it was written, whatever the names are', async () => {
    const special = fc.constantFrom(...`'"=+-@＝＋－＠,; a`.split(''));
    const names = fc
      .oneof(fc.string({ unit: special }), fc.string({ unit: 'grapheme' }))
      .map((name) => name.trim())
      .filter(isPetName);
    await fc.assert(
      fc.asyncProperty(fc.array(names, { minLength: 1 }), async (all) => {
        const found = (await read(await written(all))) as Extract<CsvDrafts, { kind: 'drafts' }>;
        expect(found.drafts.map(({ name }) => name)).toEqual(all);
      }),
    );
  });
});
