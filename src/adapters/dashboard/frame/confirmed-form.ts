import { html, type Child, type Html } from './html.ts';

export interface Confirmation {
  /** Unique among the dialogs of a page. */
  readonly id: string;
  /** Of the button on the page. */
  readonly label: string;
  /** Says more than the label, where many have the same. */
  readonly about: string;
  readonly question: Child;
  /** What it does, and that it cannot be undone. */
  readonly consequences: Child;
  /** Of the button that does it. */
  readonly confirm: string;
  /** Where the form is sent. */
  readonly action: string;
}

/** A button that asks before an action that cannot be undone. Works without a script. */
export const confirmedForm = (asked: Confirmation): Html => {
  const { id, label, about, question, consequences, confirm, action } = asked;
  return html`<button type="button" class="ending" popovertarget="${id}" aria-haspopup="dialog" title="${about}">${label}</button>
  <div popover id="${id}" class="dialog" role="dialog" aria-labelledby="${id}-title">
    <h2 id="${id}-title">${question}</h2>
    <p>${consequences}</p>
    <div class="row">
      <form method="post" action="${action}" class="inline"><button class="danger">${confirm}</button></form>
      <button type="button" class="bare" popovertarget="${id}" popovertargetaction="hide" autofocus>Keep</button>
    </div>
  </div>`;
};
