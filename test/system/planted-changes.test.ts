import { expect, test } from '@jest/globals';
import { placesThatDoNotCompile } from '../support/type-trial.ts';

// Each trial compiles all sources once. A place that is missing here could be forgotten.

const inFile = (file: string, ...declarations: readonly string[]): readonly string[] =>
  declarations.map((name) => `src/adapters/${file}: ${name}`);

test('a new field of an animal does not compile until it is stored, read, taken and shown', async () => {
  const places = await placesThatDoNotCompile({
    file: 'src/catalogue/domain/pet.ts',
    from: '  readonly status: PetStatus;\n',
    to: '  readonly status: PetStatus;\n  readonly birthDate: Date;\n',
  });
  expect(places).toEqual(
    [
      ...inFile('kysely/catalogue/kysely-pets.ts', 'toRow', 'fromRow'),
      ...inFile('http/operations/schemas.ts', 'NewPet', 'PetBody', 'presentPet'),
      ...inFile('http/operations/pet-operations.ts', 'operation'),
      ...inFile('http/reference/openapi-operations.ts', 'pet'),
      ...inFile('dashboard/animals/pet-form.ts', 'draftFields', 'inputs'),
      ...inFile('dashboard/animals/pet-list.ts', 'labels', 'columns'),
      ...inFile('dashboard/animals/screen.ts', 'form'),
      'src/app/commands/pet.ts: describePet',
    ].sort(),
  );
}, 120_000);

test('a third kind of database does not compile until each difference is decided', async () => {
  const places = await placesThatDoNotCompile({
    file: 'src/adapters/kysely/engine/database-kind.ts',
    from: `'sqlite' | 'mysql'`,
    to: `'sqlite' | 'mysql' | 'postgres'`,
  });
  const decisions = [
    'locked',
    'plannedOnce',
    'insertedId',
    'upsert',
    'replaceInto',
    'sum',
    'clock',
  ];
  expect(places).toEqual(
    [
      ...inFile('kysely/engine/engine.ts', 'isInProcess', 'open', ...decisions),
      ...inFile('kysely/engine/database-kind.ts', 'marks', 'databaseFile'),
      ...inFile('kysely/engine/column-types.ts', 'types'),
      ...inFile('kysely/engine/failure.ts', 'refusals'),
    ].sort(),
  );
}, 120_000);

test('a flag that suspends live domains does not compile until it is stored, printed, shown, and decides who is served', async () => {
  const places = await placesThatDoNotCompile({
    file: 'src/domains/domain/attachment/custom-domain.ts',
    from: '      readonly liveSince: Date;\n',
    to: '      readonly liveSince: Date;\n      readonly suspended?: true;\n',
  });
  expect(places).toEqual(
    [
      ...inFile('kysely/sites/custom-domain-details.ts', 'storedDetails'),
      ...inFile('dashboard/domains/certified.ts', 'saidOf'),
      'src/app/commands/present-domain.ts: presentOwn',
      'src/domains/domain/attachment/serving.ts: admits',
    ].sort(),
  );
}, 120_000);
