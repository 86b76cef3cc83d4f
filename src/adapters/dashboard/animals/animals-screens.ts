import type { Catalogue } from '../../../catalogue/catalogue.ts';
import type { Pet } from '../../../catalogue/domain/pet.ts';
import type { EveryField } from '../../../kernel/decision.ts';
import { allPages, type CsvColumn, csvPage, sendCsv } from '../frame/csv.ts';
import { confirmedForm, formError, onceInput } from '../frame/form-parts.ts';
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
  bareForm,
  form,
  type Form,
  type Refusal,
  refusalOf,
  type Screen,
  type Visit,
} from '../frame/screen.ts';
import type { DashboardPorts } from '../ports.ts';
import { inputs, petChanges, petDraft } from './draft.ts';
import { historyOf } from './history.ts';
import { importPath } from './import.ts';
import {
  animalsAddress,
  animalsPath,
  animalsPlace,
  idOf,
  positionOf,
  readAnimalsQuery,
} from './query.ts';
import { animalPath, orderPath, petBadge, petButtons, petChoices, petSteps } from './steps.ts';

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
      searchField(address, 'Category id', { name: 'category' }),
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

const path = `${animalsPath}/:id`;

export const animalScreen = (ports: DashboardPorts): Screen => {
  const { catalogue, ids } = ports;
  return {
    path,
    section: 'animals',
    live: false,
    notices: {
      saved: 'The changes are saved.',
      ...Object.fromEntries(Object.values(petSteps).map(({ name, told }) => [name, told])),
    },
    show: async (visit, refusal) => {
      const { accountId, may } = visit;
      const place = animalsPlace(visit.query);
      const pet = await catalogue.getPet(accountId, idOf(visit));
      const order = pet.status === 'sold' ? await catalogue.orderOf(accountId, pet.id) : undefined;
      const petId = String(pet.id);
      const about = order ? [{ petId }, { orderId: String(order.id) }] : [{ petId }];
      const ofEdit = refusalOf(refusal, 'edit-animal');
      return {
        title: pet.name,
        content: html`
          ${head(
            pet.name,
            html`<span class="mono">#${String(pet.id)}</span> · category ${String(pet.categoryId)}${order && html` · <a href="${orderPath(order)}">Order ${String(order.id)}</a>`}`,
            {
              trail: [['Animals', animalsPath + place]],
              beside: petBadge(pet),
              actions: may('animal.change') && petButtons(pet, place),
            },
          )}
          ${!ofEdit && formError(refusal, false)}
          ${may('animal.change') && editForm(pet, place, ofEdit)}
          ${await historyOf(ports, visit, about)}
          ${may('animal.delete') && pet.status !== 'sold' && deletion(pet, place, ids.next('form'))}`,
      };
    },
    forms: [
      editing(catalogue),
      removal(catalogue),
      ...Object.values(petSteps).map((step) => stepping(catalogue, step)),
    ],
  };
};

const editForm = (pet: Pet, place: string, refusal: Refusal | undefined): Html =>
  html`<form method="post" action="${animalPath(pet)}${place}" class="card fields" aria-label="Edit">
    ${formError(refusal)}
    ${inputs.name(refusal, pet)}
    ${inputs.categoryId(refusal, pet)}
    <button class="main">Save changes</button>
  </form>`;

const deletion = (pet: Pet, place: string, once: string): Html =>
  html`<div>${confirmedForm({
    id: 'delete',
    label: 'Delete',
    about: `Delete animal ${pet.id}`,
    question: html`Delete <span class="name">${pet.name}</span>?`,
    consequences:
      'It disappears from your lists and from the API. The audit log keeps what happened to it. This cannot be undone.',
    confirm: 'Delete animal',
    action: `${animalPath(pet)}/delete${place}`,
    once,
  })}</div>`;

const editing = (catalogue: Catalogue): Form =>
  form({
    name: 'edit-animal',
    operation: 'animal.change',
    path,
    schema: petChanges,
    field: 'name',
    act: async (visit, changes) => {
      const pet = await catalogue.editPet(visit.accountId, idOf(visit), changes);
      return { to: animalPath(pet) + animalsPlace(visit.query), done: 'saved' };
    },
  });

const removal = (catalogue: Catalogue): Form =>
  bareForm({
    name: 'delete-animal',
    operation: 'animal.delete',
    path: `${path}/delete`,
    once: true,
    act: async (visit) => {
      await catalogue.deletePet(visit.accountId, idOf(visit));
      return { to: animalsPath + animalsPlace(visit.query), done: 'deleted' };
    },
  });

const stepping = (
  catalogue: Catalogue,
  { name, act }: (typeof petSteps)[keyof typeof petSteps],
): Form =>
  bareForm({
    name,
    operation: 'animal.change',
    path: `${path}/${name}`,
    act: async (visit) => {
      const id = idOf(visit);
      await act(catalogue, visit.accountId, id);
      return { to: animalPath({ id }) + animalsPlace(visit.query), done: name };
    },
  });
