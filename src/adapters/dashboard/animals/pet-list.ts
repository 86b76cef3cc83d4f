import { petStatuses, type Pet, type PetStatus } from '../../../catalogue/domain/pet.ts';
import type { EveryField } from '../../../kernel/every-field.ts';
import type { AnimalsQuery } from './query.ts';
import { html, type Html } from '../frame/html.ts';
import { badge, empty, type Tone } from '../frame/parts.ts';
import { statusList, type Stretch } from './status-list.ts';
import { petLifecycle, stepForms } from './steps.ts';
import type { Column } from '../frame/table.ts';

const tones: Readonly<Record<PetStatus, Tone>> = {
  available: 'good',
  pending: 'busy',
  sold: 'idle',
};

/** The column of each field. */
const columns: EveryField<Pet, Column<Pet>> = {
  id: ['Id', 'mono', ({ id }) => String(id)],
  name: ['Name', 'name', ({ name }) => name],
  categoryId: ['Category', 'mono', ({ categoryId }) => String(categoryId)],
  status: ['Status', 'text', ({ status }) => badge(status, tones[status])],
};

const none = empty(
  'No animals yet',
  html`Add the first one above, or with <code>POST /v1/pets</code> and an API key.`,
);

export const petList = (pets: Stretch<Pet>, query: AnimalsQuery): Html => {
  const steps = (pet: Pet) => stepForms({ kind: 'animal', ...pet }, petLifecycle, query);
  return statusList(
    {
      kind: 'animal',
      title: 'Inventory',
      status: 'status',
      before: 'before',
      filter: { label: 'Status', button: 'Filter', name: 'status', statuses: petStatuses },
      columns: [...Object.values(columns), ['Actions', 'actions', steps]],
      none,
    },
    pets,
    query,
  );
};
