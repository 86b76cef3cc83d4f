import * as v from 'valibot';
import type { Catalogue } from '../../../catalogue/catalogue.ts';
import {
  isCategoryId,
  isPetName,
  largestInt64,
  type PetDraft,
  petNameLength,
  petStatuses,
  readId,
} from '../../../catalogue/domain/pet.ts';
import type { EveryField } from '../../../kernel/decision.ts';
import { field, formError, onceInput, select } from '../frame/form-parts.ts';
import { html, type Html, nothing } from '../frame/html.ts';
import { notFound } from '../frame/page-problem.ts';
import { head, listPart } from '../frame/parts.ts';
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
import { type NamedOrder, orderList, petList } from './lists.ts';
import { animalsHref, animalsPath, type AnimalsQuery, readAnimalsQuery } from './query.ts';
import { below, lifecycles, orderSteps, petSteps, type Step } from './steps.ts';

const perPage = 20;

export const animalsScreen = ({ catalogue, ids }: DashboardPorts): Screen => ({
  path: animalsPath,
  section: 'animals',
  // Not live: new rows would move the buttons away from under the pointer.
  live: false,
  notices: {
    added: 'The animal is added.',
    ...Object.fromEntries(allSteps.map(({ name, told }) => [name, told])),
  },
  show: async ({ accountId, query: asked }: Visit, refusal?: Refusal) => {
    const query = readAnimalsQuery(asked);
    const { status, before } = query;
    const [pets, orders] = await Promise.all([
      catalogue.searchPets(accountId, {
        status,
        order: 'newest',
        after: before === undefined ? undefined : { id: before, name: '' },
        limit: perPage + 1,
      }),
      namedOrders(catalogue, accountId, query),
    ]);
    const ofNew = refusalOf(refusal, 'add-animal');
    return {
      title: 'Animals',
      content: html`
        ${head(
          'Animals',
          'Selling an animal creates an order and cannot be undone. Both lists show the newest first.',
          html`<nav class="row" aria-label="On this page"><a href="#animals">Inventory</a><a href="#orders">Orders</a></nav>`,
        )}
        ${refusal?.message !== undefined && !ofNew ? html`<p class="notice bad" role="alert">${refusal.message}</p>` : nothing}
        ${petForm(query, ids.next('form'), ofNew)}
        ${petList(listPart(pets, perPage), query)}
        ${orderList(listPart(orders, perPage), query)}
        ${lifecycles()}`,
    };
  },
  forms: [
    adding(catalogue),
    ...Object.values(petSteps).map((step) => stepping(catalogue, step, 'animal')),
    ...Object.values(orderSteps).map((step) => stepping(catalogue, step, 'order')),
  ],
});

const allSteps = [...Object.values(petSteps), ...Object.values(orderSteps)];

/** The names of a whole page of orders come with one query. */
const namedOrders = async (
  catalogue: Catalogue,
  accountId: string,
  { ordersBefore, orderStatus }: AnimalsQuery,
): Promise<readonly NamedOrder[]> => {
  const page = { before: ordersBefore, limit: perPage + 1 };
  const orders = await catalogue.newestOrders(accountId, page, orderStatus);
  const pets = await catalogue.findPets(
    accountId,
    orders.map(({ petId }) => petId),
  );
  const names = new Map(pets.map(({ id, name }) => [id, name]));
  return orders.map((order) => ({ ...order, petName: names.get(order.petId) }));
};

const adding = (catalogue: Catalogue): Form =>
  form({
    name: 'add-animal',
    operation: 'animal.add',
    path: animalsPath,
    schema: petDraft,
    field: 'name',
    once: true,
    act: async ({ accountId, query }, draft) => {
      await catalogue.createPet(accountId, draft);
      return { to: animalsHref(readAnimalsQuery(query)), done: 'added' };
    },
  });

/** Another person may have been faster; then the page says so. */
const stepping = (catalogue: Catalogue, step: Step, kind: 'animal' | 'order'): Form =>
  bareForm({
    name: step.name,
    operation: `${kind}.change`,
    path: `${animalsPath}${below[kind]}/:id/${step.name}`,
    act: async ({ accountId, query, parameters }) => {
      const id = readId(parameters['id']);
      if (id === undefined) throw notFound();
      await step.act(catalogue, accountId, id);
      const to = animalsHref(readAnimalsQuery(query), { at: `${kind}-${id}` });
      return { to, done: step.name };
    },
  });

const category = `A category id is a whole number from 1 to ${largestInt64}.`;

const draftFields = {
  name: v.pipe(
    v.string(),
    v.trim(),
    v.check(isPetName, `A name has 1 to ${petNameLength.max} characters, all on one line.`),
  ),
  categoryId: v.pipe(
    v.string(),
    v.trim(),
    // As BigInt from its digits: a number would round it.
    v.transform((digits) => readId(digits) ?? 0n),
    v.check(isCategoryId, category),
  ),
  status: v.optional(v.picklist(petStatuses, 'Choose one of the list.'), 'available'),
} satisfies EveryField<PetDraft>;

const petDraft = v.object(draftFields);

const statuses = petStatuses.map((one) => [one, one] as const);

const inputs: EveryField<PetDraft, (refusal: Refusal | undefined) => Html> = {
  name: (refusal) =>
    field({ label: 'Name', name: 'name', placeholder: 'Rex', autocomplete: 'off' }, refusal),
  categoryId: (refusal) =>
    field(
      {
        label: 'Category id',
        name: 'categoryId',
        inputmode: 'numeric',
        placeholder: '7',
        autocomplete: 'off',
      },
      refusal,
    ),
  status: (refusal) =>
    select(
      {
        label: 'Initial status',
        name: 'status',
        options: statuses,
        key: '-new',
        hint: 'An animal that is added as sold has no order.',
      },
      refusal,
    ),
};

const petForm = (query: AnimalsQuery, once: string, refusal: Refusal | undefined): Html =>
  html`<section class="card">
    <h2>Add an animal</h2>
    <form method="post" action="${animalsHref(query)}" class="fields">
      ${formError(refusal)}
      ${onceInput(once)}
      ${Object.values(inputs).map((input) => input(refusal))}
      <button class="main">Add animal</button>
    </form>
  </section>`;
