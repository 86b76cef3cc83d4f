import type { Catalogue } from '../../../catalogue/catalogue.ts';
import type { Pet } from '../../../catalogue/domain/pet.ts';
import { confirmedForm, formError } from '../frame/form-parts.ts';
import { html, type Html } from '../frame/html.ts';
import { head } from '../frame/parts.ts';
import {
  bareForm,
  form,
  type Form,
  type Refusal,
  refusalOf,
  type Screen,
} from '../frame/screen.ts';
import type { DashboardPorts } from '../ports.ts';
import { inputs, petChanges } from './draft.ts';
import { historyOf } from './history.ts';
import { animalsPath, animalsPlace, idOf } from './query.ts';
import { animalPath, orderPath, petBadge, petButtons, petSteps } from './steps.ts';

const path = `${animalsPath}/:id`;

export const animalScreen = (ports: DashboardPorts): Screen => {
  const { catalogue } = ports;
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
          ${may('animal.delete') && pet.status !== 'sold' && deletion(pet, place)}`,
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

const deletion = (pet: Pet, place: string): Html =>
  html`<div>${confirmedForm({
    id: 'delete',
    label: 'Delete',
    about: `Delete animal ${pet.id}`,
    question: html`Delete <span class="name">${pet.name}</span>?`,
    consequences:
      'It disappears from your lists and from the API. The audit log keeps what happened to it. This cannot be undone.',
    confirm: 'Delete animal',
    action: `${animalPath(pet)}/delete${place}`,
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
