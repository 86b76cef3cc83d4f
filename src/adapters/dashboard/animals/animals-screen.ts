import type { Catalogue } from '../../../catalogue/catalogue.ts';
import type { Pet } from '../../../catalogue/domain/pet.ts';
import type { EveryField } from '../../../kernel/decision.ts';
import { allPages, type CsvColumn, csvPage, sendCsv } from '../frame/csv.ts';
import { formError, onceInput } from '../frame/form-parts.ts';
import { html, type Html } from '../frame/html.ts';
import {
  addressOf,
  csvLink,
  filterBar,
  listBar,
  noMatch,
  rowList,
  searchField,
} from '../frame/list-parts.ts';
import { type Column, empty, head, listPart, pager } from '../frame/parts.ts';
import {
  form,
  type Form,
  type Refusal,
  refusalOf,
  type Screen,
  type Visit,
} from '../frame/screen.ts';
import type { DashboardPorts } from '../ports.ts';
import { inputs, petDraft } from './draft.ts';
import { importPath } from './import.ts';
import {
  animalsAddress,
  animalsPath,
  animalsPlace,
  positionOf,
  readAnimalsQuery,
} from './query.ts';
import { animalPath, petBadge, petChoices } from './steps.ts';

const perPage = 50;
const csvPath = `${animalsPath}.csv`;

export const animalsScreen = ({ catalogue, ids }: DashboardPorts): Screen => ({
  path: animalsPath,
  section: 'animals',
  // The list is not live, because new rows would move the others away from under the pointer.
  live: false,
  notices: {
    added: 'The animal is added.',
    imported: 'The animals of your file are added.',
    deleted: 'The animal is deleted.',
  },
  show: async (visit, refusal) => {
    const { accountId, may } = visit;
    const query = readAnimalsQuery(visit.query);
    const found = await catalogue.searchPets(accountId, { ...query, limit: perPage + 1 });
    return {
      title: 'Animals',
      content: html`
        ${head('Animals', 'The animals of your store. Open one to change or sell it.', {
          actions:
            may('animal.add') && html`<a class="button" href="${importPath}">Import a CSV file</a>`,
        })}
        ${may('animal.add') && addForm(ids.next('form'), refusalOf(refusal, 'add-animal'))}
        ${list(found, visit)}`,
    };
  },
  forms: [adding(catalogue)],
  others: [
    {
      method: 'GET',
      path: csvPath,
      answer: ({ accountId, query }, ctx) => {
        const search = readAnimalsQuery(query);
        const read = (after: Pet | undefined) =>
          catalogue.searchPets(accountId, { ...search, after, limit: csvPage });
        sendCsv(ctx, { name: 'animals', columns: Object.values(csvColumns) }, allPages(read));
        return Promise.resolve(undefined);
      },
    },
  ],
});

const csvColumns: EveryField<Pet, CsvColumn<Pet>> = {
  id: ['id', ({ id }) => id],
  name: ['name', ({ name }) => name],
  categoryId: ['categoryId', ({ categoryId }) => categoryId],
  status: ['status', ({ status }) => status],
};

const columns = (place: string): EveryField<Pet, Column<Pet>> => ({
  name: ['Name', 'name', (pet) => html`<a href="${animalPath(pet)}${place}">${pet.name}</a>`],
  id: ['Id', 'mono', ({ id }) => html`#${String(id)}`],
  categoryId: ['Category', 'mono', ({ categoryId }) => html`category ${String(categoryId)}`],
  status: ['Status', 'bare', petBadge],
});

const list = (found: readonly Pet[], { query: asked }: Visit): Html => {
  const query = readAnimalsQuery(asked);
  const { shown, last } = listPart(found, perPage);
  const address = animalsAddress(query);
  const isAll = query.beginning === undefined && query.after === undefined;
  if (shown.length === 0 && isAll && query.status === undefined && query.categoryId === undefined)
    return nothingYet;
  return html`<section class="stack" aria-label="Animals">
    ${listBar(
      filterBar(address, 'Status', { name: 'status', choices: petChoices }),
      searchField(address, 'Search by id or name'),
      searchField(address, 'Category id', 'category'),
      query.beginning === undefined &&
        filterBar(address, 'Order', { name: 'order', choices: orders }),
      csvLink(addressOf({ ...address, path: csvPath })),
    )}
    ${shown.length === 0 ? noMatch(address, 'animals') : rowList(shown, Object.values(columns(animalsPlace(asked))), { idOf: ({ id }) => `animal-${id}` })}
    ${pager({
      first: query.after && addressOf(address),
      next: last && addressOf(address, { after: positionOf(last) }),
      order: 'other',
    })}
  </section>`;
};

const orders = [
  { value: '', text: 'Newest' },
  { value: 'oldest', text: 'Oldest' },
  { value: 'name', text: 'Name' },
];

const nothingYet = empty(
  'No animals yet',
  html`Add the first one above, import a CSV file, or let a program send <code>POST /v1/pets</code> with an API key.`,
);

const addForm = (once: string, refusal: Refusal | undefined): Html =>
  html`<form method="post" action="${animalsPath}" class="card fields" aria-label="Add an animal">
    ${formError(refusal)}
    ${onceInput(once)}
    ${Object.values(inputs).map((input) => input(refusal))}
    <button class="main">Add animal</button>
  </form>`;

const adding = (catalogue: Catalogue): Form =>
  form({
    name: 'add-animal',
    operation: 'animal.add',
    path: animalsPath,
    schema: petDraft,
    field: 'name',
    once: true,
    act: async ({ accountId }, draft) => {
      const { id } = await catalogue.createPet(accountId, draft);
      return { to: `${animalsPath}#animal-${id}`, done: 'added' };
    },
  });
