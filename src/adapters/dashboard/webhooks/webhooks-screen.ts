import { mostWebhooks, type Webhook } from '../../../notifications/domain/webhook.ts';
import { shownOnce } from '../frame/sent-form.ts';
import { formError } from '../frame/form-parts.ts';
import { html, type Html } from '../frame/html.ts';
import { rowList } from '../frame/list-parts.ts';
import { type ColumnsOf, empty, head, time } from '../frame/parts.ts';
import type { DashboardPorts } from '../ports.ts';
import { form, type Form, type Refusal, refusalOf, type Screen } from '../frame/screen.ts';
import { draftForm, shownSecret, webhookDraft } from './settings.ts';
import { kindsOf, stateInWords, stateOf, webhookPath, webhooksPath } from './words.ts';

type Ports = Pick<DashboardPorts, 'webhooks' | 'ids'>;

export const webhooksScreen = (ports: Ports): Screen => ({
  path: webhooksPath,
  section: 'webhooks',
  live: 'often',
  notices: {
    [shownOnce]:
      'This was already done, and the secret was shown then. If you lost it, rotate it on the page of the webhook.',
    removed: 'The webhook is removed. It is no longer called.',
  },
  show: async ({ accountId, now, may }, refusal, secret) => {
    const webhooks = await ports.webhooks.listWebhooks(accountId);
    const refused = refusalOf(refusal, 'add-webhook');
    const content = html`
      ${head('Webhooks', 'We call your address when something happens, so that your programs need not poll.')}
      ${secret}
      ${webhooks.length === 0 ? nothingYet : rowList(webhooks, Object.values(columns(now)))}
      ${
        may('webhook.add') &&
        html`<section class="card" id="new-webhook" aria-labelledby="new-heading">
        <h2 id="new-heading">New webhook</h2>
        ${webhooks.length >= mostWebhooks ? enough(refused) : draftForm({ action: webhooksPath, button: 'Add webhook', once: ports.ids.next('form'), refusal: refused })}
      </section>`
      }`;
    return { title: 'Webhooks', content };
  },
  forms: [addition(ports)],
});

const nothingYet = empty(
  'No webhooks yet',
  'Add the address of a receiver below. Its secret, which verifies our messages, is shown once.',
);

const enough = (refusal: Refusal | undefined): Html =>
  html` ${formError(refusal, false)} <p class="hint">You have ${mostWebhooks} webhooks, the maximum for an account.</p>`;

const columns = (now: Date): ColumnsOf<Webhook, 'id' | 'accountId' | 'oldSecretsUntil'> => ({
  address: [
    'Address',
    'name',
    ({ id, address }) => html`<a href="${webhookPath(id)}" title="${address}">${address}</a>`,
  ],
  kinds: ['Kinds', 'text', kindsOf],
  status: ['State', 'bare', stateOf],
  next: ['What happens next', 'line', (webhook) => stateInWords(webhook, now)],
  createdAt: ['Added', 'extra', ({ createdAt }) => time(createdAt, now)],
});

const addition = ({ webhooks }: Ports): Form =>
  form({
    name: 'add-webhook',
    operation: 'webhook.add',
    showsSecret: true,
    path: webhooksPath,
    schema: webhookDraft,
    field: 'address',
    once: true,
    act: async ({ accountId, now }, draft) => {
      const added = await webhooks.addWebhook(accountId, draft);
      return { ...shownSecret({ ...added, now }), status: 201 };
    },
  });
