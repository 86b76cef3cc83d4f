import { beforeAll, expect, test } from '@jest/globals';
import { readFile, writeFile } from 'node:fs/promises';
import { join, normalize } from 'node:path';
import { plantTree, type PlantedTree } from '../support/planted-tree.ts';

// The compiler must report every place in this list.

const inFile = (file: string, ...declarations: readonly string[]): readonly string[] =>
  declarations.map((name) => `src/adapters/${file}: ${name}`);

const inCommand = (file: string, ...declarations: readonly string[]): readonly string[] =>
  inFile(`../app/commands/${file}`, ...declarations).map(normalize);

const grown = (file: string, field: string, added = 'note: string') => {
  const from = `readonly ${field};\n`;
  return { file: `src/${file}`, from, to: `${from}  readonly ${added};\n` };
};

/** The changes affect different places, so they are compiled together to save time. */
let places: readonly string[];
beforeAll(async () => {
  places = await placesThatDoNotCompile(
    grown('access/domain/account.ts', 'createdAt: Date'),
    grown('access/domain/api-key.ts', 'hint: string'),
    grown('access/domain/person.ts', 'createdAt: Date'),
    grown('access/domain/session.ts', 'endsAt: Date'),
    grown('access/domain/session.ts', 'proof: string'),
    grown('catalogue/domain/order.ts', 'quantity: number'),
    grown('catalogue/domain/pet.ts', 'status: PetStatus', 'birthDate: Date'),
    grown('domains/domain/redirects/settings.ts', 'status: RedirectStatus'),
    grown('sites/domain/site.ts', 'bytes: number'),
    grown('sites/domain/project.ts', 'createdAt: Date'),
    {
      file: 'src/adapters/kysely/engine/database-kind.ts',
      from: `'sqlite' | 'mysql'`,
      to: `'sqlite' | 'mysql' | 'postgres'`,
    },
    {
      file: 'src/domains/domain/attachment/custom-domain.ts',
      from: '      readonly liveSince: Date;\n',
      to: '      readonly liveSince: Date;\n      readonly suspended?: true;\n',
    },
    {
      file: 'src/app/queues.ts',
      from: `'domains', Worker>`,
      to: `'domains' | 'letters', Worker>`,
    },
    {
      file: 'src/domains/domain/dns/validation.ts',
      from: `  'http-01': {`,
      to: `  'file-01': { provesWildcards: false, needsDelegation: false, needsTraffic: true },\n  'http-01': {`,
    },
  );
});

const isOfEngine = (place: string): boolean =>
  /^src\/(adapters\/kysely\/(engine|copies)|app\/backup)\//.test(place);

const isOfProof = (place: string): boolean =>
  place.startsWith('src/domains/use-cases/advance-order');

const isOfQueues = (place: string): boolean => /^src\/app\/(jobs|wiring\/queues)\./.test(place);

/** Settings of redirects are stored with the project. */
const isOfDomains = (place: string): boolean =>
  !isOfProof(place) &&
  /^src\/(?:domains\/(?!domain\/redirects\/)|adapters\/(?:dashboard\/domains|kysely\/sites\/custom-domain)|app\/commands\/present-domain)/.test(
    place,
  );

test('a new field of a stored record does not compile until it is stored, read, accepted and shown', () => {
  const outside = places.filter((place) => /^src\/(?:adapters|app)\//.test(place));
  const others = [isOfEngine, isOfDomains, isOfProof, isOfQueues];
  expect(outside.filter((place) => !others.some((isOf) => isOf(place)))).toEqual(
    [
      ...inFile('kysely/access/tables.ts', 'accounts', 'apiKeys', 'people', 'choice', 'sessions'),
      ...inFile('kysely/tables.ts', 'orders', 'pets'),
      ...inFile('kysely/sites/tables.ts', 'redirect', 'settings', 'projects'),
      ...inFile('kysely/access/kysely-accounts.ts', 'accountFrom'),
      ...inFile('kysely/access/kysely-api-keys.ts', 'fromRow'),
      ...inFile('kysely/access/kysely-people.ts', 'personFrom'),
      ...inFile('kysely/access/kysely-sessions.ts', 'sessionFrom'),
      ...inFile('kysely/kysely-catalogue.ts', 'orderFrom', 'petFrom'),
      ...inFile('kysely/sites/site-rows.ts', 'deployFrom', 'projectFrom', 'siteFrom'),
      ...inFile('http/operations/schemas.ts', 'NewPet', 'PetBody', 'presentPet'),
      ...inFile('http/operations/schemas.ts', 'OrderBody', 'presentOrder'),
      ...inFile('http/operations/catalogue-operations.ts', 'operation'),
      ...inFile('http/reference/openapi.ts', 'pet', 'order'),
      ...inFile('dashboard/account/people.ts', 'columns'),
      ...inFile('dashboard/me/screen.ts', 'columns'),
      ...inFile('dashboard/account/screen.ts', 'factsOf'),
      ...inFile('dashboard/account/deleted-screen.ts', 'columns'),
      ...inFile('dashboard/animals/animals-screens.ts', 'columns', 'csvColumns', 'form'),
      ...inFile('dashboard/animals/csv-drafts.ts', 'draftIn'),
      ...inFile('dashboard/animals/draft.ts', 'draftFields', 'inputs'),
      ...inFile('dashboard/animals/orders-screens.ts', 'csvColumns', 'orderColumns'),
      ...inFile('dashboard/keys/list.ts', 'columns'),
      ...inFile('dashboard/projects/project-screen.ts', 'columns'),
      ...inCommand('account.ts', 'columnsOf', 'personColumns', 'presentAccount', 'presentPerson'),
      ...inCommand('key.ts', 'columnsOf', 'presentKey'),
      ...inCommand('pet.ts', 'describePet', 'describeOrder'),
      ...inCommand('project.ts', 'columnsOf', 'presentDeploy', 'presentProject'),
    ].sort(),
  );
});

test('a third kind of database does not compile until every difference between databases covers it', () => {
  expect(places.filter(isOfEngine)).toEqual(
    [
      ...inFile('kysely/engine/engine.ts', 'differencesOf'),
      ...inFile('kysely/engine/database-kind.ts', 'marks', 'databaseFile', 'factsOf', 'types'),
      ...inFile('kysely/copies/database-copies.ts', 'copiesOf'),
      'src/app/backup/back-up.ts: write',
      ...inFile('kysely/engine/failure.ts', 'refusals'),
    ].sort(),
  );
});

test('a flag that suspends live domains does not compile until it is stored, printed, shown, and decides who is served', () => {
  expect(places.filter(isOfDomains)).toEqual(
    [
      ...inFile('kysely/sites/custom-domain-details.ts', 'storedDetails'),
      ...inFile('dashboard/domains/progress.ts', 'saidOf'),
      'src/app/commands/present-domain.ts: presentOwn',
      'src/domains/domain/attachment/serving.ts: admits',
    ].sort(),
  );
});

test('a third method of validation does not compile until an order can prove by it', () => {
  expect(places.filter(isOfProof)).toEqual([
    'src/domains/use-cases/advance-order.ts: publications',
  ]);
});

test('a further kind of queued work does not compile until it is made and run', () => {
  expect(places.filter(isOfQueues)).toEqual([
    'src/app/jobs.ts: queueJobs',
    'src/app/wiring/queues.ts: once',
  ]);
});

/** A change of one source file: the first occurrence of a text is replaced. */
interface PlantedChange {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** The compiler of `make check`, without its rules. */
const typesOnly = {
  categories: { correctness: 'off' },
  options: { typeAware: true, typeCheck: true },
};

/**
 * Compiles a copy of the sources with some changes.
 * @returns the places with errors, each once and sorted: `path: declaration`
 */
const placesThatDoNotCompile = async (
  ...changes: readonly PlantedChange[]
): Promise<readonly string[]> => {
  const tree = await plantTree(['src', 'db', 'package.json', 'tsconfig.json'], {
    '.oxlintrc.json': JSON.stringify(typesOnly),
  });
  try {
    for (const { file, from, to } of changes) {
      const path = join(tree.folder, file);
      const text = await readFile(path, 'utf8');
      if (!text.includes(from)) throw new Error(`${file} has no ${from}`);
      await writeFile(
        path,
        text.replace(from, () => to),
      );
    }
    const places = [];
    for (const [path, line] of await errorsIn(tree)) {
      const lines = (await readFile(join(tree.folder, path), 'utf8')).split('\n');
      places.push(`${path}: ${declarationAt(lines, line)}`);
    }
    return [...new Set(places)].sort();
  } finally {
    await tree.remove();
  }
};

interface Report {
  readonly diagnostics: readonly {
    readonly filename: string;
    readonly labels: readonly { readonly span: { readonly line: number } }[];
  }[];
}

const errorsIn = async (
  tree: PlantedTree,
): Promise<readonly (readonly [path: string, line: number])[]> => {
  const printed = await tree.run('oxlint/bin/oxlint', '--format', 'json', 'src', 'db');
  const { diagnostics } = printed as Report;
  return diagnostics.map(({ filename, labels }) => [filename, labels[0]?.span.line ?? 0] as const);
};

const declaration =
  /^(?:export )?(?:const|class|interface|type) (\w+)|^ {2}(?:readonly |async |get )*(\w+)(?:<|\(| = )/;

/** The name of the innermost declaration, at the top or in a class, that contains the line. */
const declarationAt = (lines: readonly string[], line: number): string => {
  for (let at = line - 1; at >= 0; at--) {
    const [, top, member] = declaration.exec(lines[at] ?? '') ?? [];
    if (top ?? member) return top ?? member ?? '';
  }
  return '';
};
