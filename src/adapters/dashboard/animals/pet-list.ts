import {
  petStatuses,
  petTransitions,
  type Pet,
  type PetStatus,
} from '../../../catalogue/domain/pet.ts';
import type { EveryField } from '../../../kernel/every-field.ts';
import { animalsHref, type AnimalsQuery } from './query.ts';
import { html, type Html } from '../frame/html.ts';
import { badge, empty, pager, type Tone } from '../frame/parts.ts';
import { statusFilter } from './pet-filter.ts';
import { stepForm } from './step-form.ts';
import { petSteps, stepsFrom } from './pet-steps.ts';
import { table, type Row } from '../frame/table.ts';

const tones: Readonly<Record<PetStatus, Tone>> = {
  available: 'good',
  pending: 'busy',
  sold: 'idle',
};

/** Some of a long list, newest first. */
export interface Stretch<Thing> {
  readonly shown: readonly Thing[];
  /** What comes next has lower ids than this. */
  readonly next: bigint | undefined;
}

export const petList = ({ shown, next }: Stretch<Pet>, query: AnimalsQuery): Html => {
  const { status, before } = query;
  const newest = { ...query, before: undefined };
  return html`<section class="card" id="animals" aria-labelledby="animals-title">
    <div class="row between">
      <h2 id="animals-title">Inventory</h2>
      ${statusFilter({ label: 'Status', button: 'Filter', name: 'status', statuses: petStatuses, value: status, kept: { ...newest, status: undefined }, at: 'animals' })}
    </div>
    ${
      shown.length === 0
        ? nothingHere(query)
        : table(
            columns,
            shown.map((pet) => rowOf(pet, query)),
          )
    }
    ${pager({
      first: before === undefined ? undefined : animalsHref(newest, { at: 'animals' }),
      next:
        next === undefined ? undefined : animalsHref({ ...query, before: next }, { at: 'animals' }),
    })}
  </section>`;
};

/** The column of each field. */
const labels = {
  id: 'Id',
  name: 'Name',
  categoryId: 'Category',
  status: 'Status',
} as const satisfies EveryField<Pet, string>;

const columns = {
  [labels.id]: 'mono',
  [labels.name]: 'name',
  [labels.categoryId]: 'mono',
  [labels.status]: 'text',
  Actions: 'actions',
} as const satisfies Readonly<Record<(typeof labels)[keyof Pet] | 'Actions', string>>;

const rowOf = (
  { id, name, categoryId, status }: Pet,
  query: AnimalsQuery,
): Row<keyof typeof columns> => ({
  id: `animal-${id}`,
  cells: {
    [labels.id]: String(id),
    [labels.name]: name,
    [labels.categoryId]: String(categoryId),
    [labels.status]: badge(status, tones[status]),
    Actions: stepsFrom(petTransitions, petSteps, status).map((step) =>
      stepForm(step, animalsHref(query, { below: `/${id}/${step.name}` }), {
        kind: 'animal',
        ...{ id, name },
      }),
    ),
  },
});

const nothingHere = ({ status, before }: AnimalsQuery): Html => {
  if (before !== undefined)
    return empty('No older animals', 'You have reached the end of the list.');
  if (status !== undefined) return empty(`No animal is ${status}`, 'Choose another status above.');
  return empty(
    'No animals yet',
    html`Add the first one above, or with <code>POST /v1/pets</code> and an API key.`,
  );
};
