import { confirmedForm } from '../frame/confirmed-form.ts';
import type { Html } from '../frame/html.ts';
import { buttonForm } from '../frame/form-parts.ts';
import type { Step } from './pet-steps.ts';

export interface Stepping {
  /** `animal` or `order` */
  readonly kind: string;
  readonly id: bigint;
  /** Known by, if it has a name. */
  readonly name?: string;
}

/** A step as a button; one that cannot be undone asks first. */
export const stepForm = (
  { name: step, label, asks }: Step,
  action: string,
  { kind, id, name = `${kind} ${id}` }: Stepping,
): Html => {
  const about = `${label} ${kind} ${id}`;
  if (!asks) return buttonForm(action, label, { about });
  const question = `${label} ${name}?`;
  return confirmedForm({ id: `${step}-${id}`, label, about, question, action, ...asks });
};
