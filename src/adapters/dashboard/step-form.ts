import { html, type Html } from './html.ts';
import { buttonForm } from './parts.ts';
import type { Step } from './pet-steps.ts';

/** A step as a button. What is final says so beside it, and needs one press like all others. @param what `animal 7` */
export const stepForm = ({ label, isFinal = false }: Step, action: string, what: string): Html =>
  isFinal
    ? html`<span class="final">${buttonForm(action, label, { tone: 'ending', about: `${label} ${what}. This cannot be undone.` })} <small>final</small></span>`
    : buttonForm(action, label, { about: `${label} ${what}` });
