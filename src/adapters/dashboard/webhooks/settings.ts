import * as v from 'valibot';
import { type Overlap, overlaps } from '../../../kernel/overlap.ts';
import { kinds, ownersKinds } from '../../../notifications/domain/kinds.ts';
import type { OwnersKind } from '../../../notifications/domain/notification.ts';
import { longestUrl } from '../../../notifications/domain/destination.ts';
import type { Webhook, WebhookDraft } from '../../../notifications/domain/webhook.ts';
import { field, formError, onceInput, overlapSelect } from '../frame/form-parts.ts';
import { html, type Html } from '../frame/html.ts';
import { atClock, secretCard, time } from '../frame/parts.ts';
import type { Refusal, Shown } from '../frame/screen.ts';
import { filled } from '../frame/sent-form.ts';
import { nameOf, webhookPath } from './words.ts';

export const webhookDraft = v.pipe(
  v.object({
    address: filled('Enter the address of your receiver.'),
    all: v.optional(v.string()),
    kinds: v.optional(v.string(), ''),
  }),
  v.transform(({ address, all, kinds: chosen }) => {
    const words = chosen.split(',');
    const some = ownersKinds.filter((kind) => words.includes(kind));
    return { address, kinds: all === undefined ? some : ('all' as const) };
  }),
  v.forward(
    v.check(({ kinds: chosen }) => chosen.length > 0, 'Choose all events, or at least one kind.'),
    ['kinds'],
  ),
);

interface DraftForm {
  readonly action: string;
  readonly button: string;
  readonly current?: WebhookDraft;
  readonly once?: string;
  readonly refusal: Refusal | undefined;
}

export const draftForm = ({ action, button, current, once, refusal }: DraftForm): Html =>
  html`<form method="post" action="${action}">
    ${formError(refusal)}
    ${once !== undefined && onceInput(once)}
    ${field(
      {
        label: 'Address',
        name: 'address',
        value: current?.address ?? '',
        maxlength: longestUrl,
        placeholder: 'https://example.com/hooks',
        inputmode: 'url',
        autocomplete: 'off',
        hint: 'It begins with https://, and is on the public internet.',
      },
      refusal,
    )}
    ${kindChoice(current?.kinds ?? 'all', refusal)}
    <div><button class="main">${button}</button></div>
  </form>`;

type Group = OwnersKind extends `${infer Prefix}.${string}` ? Prefix : never;

const groupNames: Readonly<Record<Group, string>> = {
  domain: 'Domains',
  certificate: 'Certificates',
  project: 'Projects',
  deploy: 'Deploys',
  key: 'API keys',
  quota: 'Quota',
  operation: 'Operations of the API',
  webhook: 'Webhooks',
};

/**
 * Offers all events, including those of later versions, or chosen ones. The hidden field makes the form send `kinds`
 * even if no box is ticked.
 */
const kindChoice = (current: WebhookDraft['kinds'], refusal: Refusal | undefined): Html => {
  const { all, kinds: sent = '' } = refusal?.values ?? {};
  const isAll = refusal ? all !== undefined : current === 'all';
  const before = current === 'all' ? [] : current;
  const chosen = refusal ? sent.split(',') : before;
  const wrong = refusal?.field === 'kinds' ? refusal.message : undefined;
  return html`<fieldset ${wrong !== undefined && html`aria-describedby="kinds-error"`}>
    <legend>Events: what we call it for</legend>
    <input type="hidden" name="kinds" value="">
    <label><input type="checkbox" name="all" value="yes" ${isAll && html`checked`} ${wrong !== undefined && html`autofocus`}> All events <span class="hint">including those that we add later</span></label>
    <div class="groups">${Object.entries(groupNames).map(([group, name]) => kindGroup(group, name, chosen))}</div>
    ${wrong !== undefined && html`<p class="error" id="kinds-error" data-refusal>${wrong}</p>`}
  </fieldset>`;
};

const kindGroup = (group: string, name: string, chosen: readonly string[]): Html =>
  html`<fieldset>
    <legend>${name}</legend>
    <div class="columns kinds">
      ${ownersKinds
        .filter((kind) => kind.startsWith(`${group}.`))
        .map(
          (kind) => html`<label>
        <input type="checkbox" name="kinds" value="${kind}" ${chosen.includes(kind) && html`checked`}>
        <span><code>${kind}</code> <span class="hint">${kinds[kind].when}</span></span>
      </label>`,
        )}
    </div>
  </fieldset>`;

interface NewSecret {
  readonly webhook: Webhook;
  readonly secret: string;
  readonly overlap?: Overlap;
  readonly now: Date;
}

export const shownSecret = ({
  webhook,
  secret,
  overlap,
  now,
}: NewSecret): Omit<Shown, 'status'> => ({
  title: `The secret of the webhook to ${nameOf(webhook)}`,
  secret: secretCard({
    id: 'secret-title',
    heading: html`${overlap === undefined ? 'Your new webhook to' : 'The new secret of the webhook to'} <span class="name">${nameOf(webhook)}</span>`,
    advice: html`Give this secret to your receiver, which uses it to verify that a message comes from us unchanged. <strong>It is not shown again.</strong>`,
    secret,
    what: 'secret',
    more: overlap !== undefined && html`<p>${oldSecret(overlap, now)}</p>`,
    next: { to: webhookPath(webhook.id), label: 'I have stored it' },
  }),
});

const oldSecret = (overlap: Overlap, now: Date): Html =>
  overlap === '0'
    ? html`Messages are no longer signed with the old secret.`
    : html`Messages are also signed with the old secret, which ends ${time(new Date(now.getTime() + overlaps[overlap]), now)}. Until then, receivers with either of them accept what we send.`;

export const secretSection = (
  webhook: Webhook,
  { now, once, refusal }: { now: Date; once: string; refusal: Refusal | undefined },
): Html => html`<section class="card" aria-labelledby="secret-heading">
    <h2 id="secret-heading">Secret</h2>
    <p class="hint">A rotation makes a new secret. For the time that you choose, messages are signed with both, so that nothing is lost while you give your receiver the new one. Secrets of earlier rotations end then too, or earlier.</p>
    ${untilWhen(webhook, now)}
    ${formError(refusal, false)}
    <form method="post" action="${webhookPath(webhook.id)}/rotate" class="filter">
      ${onceInput(once)}
      ${overlapSelect()}
      <button>Rotate secret</button>
    </form>
  </section>`;

const untilWhen = ({ oldSecretsUntil: until }: Webhook, now: Date): Html | false =>
  until !== undefined &&
  until > now &&
  html`<p data-until="${until.toISOString()}">Messages are also signed with the previous secret, until ${atClock(until, now)}. Older ones end by then.</p>`;
