import type { Selectable, SelectQueryBuilder } from 'kysely';
import { type PetStatus, petStatuses, searchedName } from '../../catalogue/domain/pet.ts';
import type { PetSearch } from '../../catalogue/ports.ts';
import type { Database, Schema } from './database.ts';
import { pets } from './tables.ts';

const columns = pets.without('accountId');

type Rows = SelectQueryBuilder<Schema, 'pets', object>;
type Condition = (rows: Rows) => Rows;

/** Each index range has the wanted order, so the first rows overall are among the first of each range. */
export const searchRows = ({ db, engine }: Database, accountId: string, search: PetSearch) => {
  const isByName = search.order === 'name' || search.beginning !== undefined;
  const direction = search.order === 'newest' && !isByName ? 'desc' : 'asc';
  const from = engine.by<Selectable<Schema['pets']>, 'pets'>('pets', indexFor(search, isByName));
  const positions = isByName ? namesFrom(search) : [idsFrom(search, direction)];
  const ranges = statusesOf(search, isByName).flatMap((status) =>
    positions.map((isBeyond) =>
      db
        .selectFrom(
          db
            .selectFrom(from)
            .select(columns.names)
            .where('account_id', '=', accountId)
            .$if(search.categoryId !== undefined, (rows) =>
              rows.where('category_id', '=', search.categoryId ?? 0n),
            )
            .$if(status !== undefined, (rows) => rows.where('status', '=', status ?? 'sold'))
            .$call((rows) => isBeyond(rows) as typeof rows)
            .$if(isByName, (rows) => rows.orderBy('searched_name'))
            .orderBy('id', direction)
            .limit(search.limit)
            .as('some'),
        )
        .selectAll(),
    ),
  );
  return ranges
    .reduce((all, one) => all.unionAll(one))
    .$if(isByName, (rows) => rows.orderBy('searched_name'))
    .orderBy('id', direction)
    .limit(search.limit);
};

const indexFor = ({ status, categoryId }: PetSearch, isByName: boolean): string => {
  if (categoryId !== undefined) return isByName ? 'pets_by_category_and_name' : 'pets_by_category';
  if (isByName) return 'pets_by_name';
  return status === undefined ? 'pets_by_account' : 'pets_by_status';
};

const statusesOf = (
  { status, categoryId }: PetSearch,
  isByName: boolean,
): readonly (PetStatus | undefined)[] => {
  if (status !== undefined) return [status];
  return isByName || categoryId !== undefined ? petStatuses : [undefined];
};

const idsFrom =
  ({ after }: PetSearch, direction: 'asc' | 'desc'): Condition =>
  (rows) =>
    after ? rows.where('id', direction === 'asc' ? '>' : '<', after.id) : rows;

/** The ranges after an animal: animals of the same name with a higher id, then the following names. */
const namesFrom = ({ after, beginning = '' }: PetSearch): readonly Condition[] => {
  const begin = searchedName(beginning);
  const last = after && searchedName(after.name);
  if (!after || last === undefined || !last.startsWith(begin)) {
    return [(rows) => untilEnd(rows.where('searched_name', '>=', begin), begin)];
  }
  return [
    (rows) => rows.where('searched_name', '=', last).where('id', '>', after.id),
    // One lower bound only: with two, the database may use the wider one.
    (rows) => untilEnd(rows.where('searched_name', '>', last), begin),
  ];
};

const untilEnd = (rows: Rows, begin: string): Rows => {
  const end = textAfter(begin);
  return end === undefined ? rows : rows.where('searched_name', '<', end);
};

const [lastBeforeHalves, firstAfterHalves, lastCharacter] = [0xd7ff, 0xe000, 0x10ffff];

/** The first text after all texts with this beginning; undefined if there is none. */
const textAfter = (begin: string): string | undefined => {
  const characters = [...begin];
  for (let last = characters.pop(); last !== undefined; last = characters.pop()) {
    const code = last.codePointAt(0) ?? lastCharacter;
    const next = code === lastBeforeHalves ? firstAfterHalves : code + 1;
    if (code < lastCharacter) return characters.join('') + String.fromCodePoint(next);
  }
  return undefined;
};
