import * as v from 'valibot';
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
import { field, select } from '../frame/form-parts.ts';
import type { Html } from '../frame/html.ts';
import type { Refusal } from '../frame/screen.ts';

const draftFields = {
  name: v.pipe(
    v.string(),
    v.trim(),
    v.check(isPetName, `A name has 1 to ${petNameLength.max} characters, all on one line.`),
  ),
  categoryId: v.pipe(
    v.string(),
    v.trim(),
    // A number would round the id, so its digits become a BigInt.
    v.transform((digits) => readId(digits) ?? 0n),
    v.check(isCategoryId, `A category id is a whole number from 1 to ${largestInt64}.`),
  ),
  status: v.optional(
    v.picklist(petStatuses, 'A status is available, pending or sold.'),
    'available',
  ),
} satisfies EveryField<PetDraft>;

export const petDraft = v.object(draftFields);
export const petChanges = v.pick(petDraft, ['name', 'categoryId']);

export type DraftField = keyof typeof draftFields;
export const draftFieldNames = Object.keys(draftFields) as readonly DraftField[];

type Given = Partial<Pick<PetDraft, 'name' | 'categoryId'>>;

export const inputs: EveryField<PetDraft, (refusal: Refusal | undefined, given?: Given) => Html> = {
  name: (refusal, { name = '' } = {}) =>
    field(
      { label: 'Name', name: 'name', value: name, placeholder: 'Rex', autocomplete: 'off' },
      refusal,
    ),
  categoryId: (refusal, { categoryId = '' } = {}) =>
    field(
      {
        label: 'Category id',
        name: 'categoryId',
        value: String(categoryId),
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
        options: petStatuses.map((one) => [one, one] as const),
        key: '-new',
        hint: 'An animal that is added as sold has no order.',
      },
      refusal,
    ),
};
