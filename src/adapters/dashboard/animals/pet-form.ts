import * as v from 'valibot';
import {
  isCategoryId,
  isPetName,
  largestInt64,
  petNameLength,
  petStatuses,
  type PetDraft,
  readId,
} from '../../../catalogue/domain/pet.ts';
import type { EveryField } from '../../../kernel/decision.ts';
import { animalsHref, type AnimalsQuery } from './query.ts';
import { html, type Html } from '../frame/html.ts';
import { field, formError, onceInput, select } from '../frame/form-parts.ts';
import type { Refusal } from '../frame/screen.ts';

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

export const petDraft = v.object(draftFields);

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

export const petForm = (query: AnimalsQuery, once: string, refusal: Refusal | undefined): Html =>
  html`<section class="card">
    <h2>Add an animal</h2>
    <form method="post" action="${animalsHref(query)}" class="fields">
      ${formError(refusal)}
      ${onceInput(once)}
      ${Object.values(inputs).map((input) => input(refusal))}
      <button class="main">Add animal</button>
    </form>
  </section>`;
