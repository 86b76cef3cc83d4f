import { mostWebhooks, type Webhook } from '../../../notifications/domain/webhook.ts';
import { shownOnce } from '../frame/sent-form.ts';
import { formError, buttonForm, confirmedForm, overlapSchema } from '../frame/form-parts.ts';
import { html, type Html } from '../frame/html.ts';
import { rowList, placeIn } from '../frame/list-parts.ts';
import { type ColumnsOf, empty, head, time, copyable, day, listPart } from '../frame/parts.ts';
import type { DashboardPorts } from '../ports.ts';
import {
  form,
  type Form,
  type Refusal,
  refusalOf,
  type Screen,
  bareForm,
  type Visit,
} from '../frame/screen.ts';
import { draftForm, shownSecret, webhookDraft, secretSection } from './settings.ts';
import {
  kindsOf,
  stateInWords,
  stateOf,
  webhookPath,
  webhooksPath,
  idsOf,
  nameOf,
  webhookOf,
} from './words.ts';
import { deliveriesSection, pageSize } from './deliveries.ts';

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

const path = webhookPath(':webhook');

export const webhookScreen = (ports: Ports): Screen => ({
  path,
  section: 'webhooks',
  live: 'often',
  notices: {
    [shownOnce]:
      'This was already done, and the secret was shown then. If you lost it, rotate it again.',
    changed: 'The webhook is changed.',
    on: 'The webhook is switched on.',
    off: 'The webhook is switched off. Deliveries that were waiting are cancelled.',
    tested: 'A test is on its way. Its result appears below.',
    again: 'It is being sent again. The result appears below.',
  },
  show: async (visit, refusal, secret) => {
    const webhook = await webhookOf(ports, visit);
    const before = deliveryIn(visit.query);
    const found = await ports.webhooks.listDeliveries(idsOf(visit), pageSize + 1, before);
    const content = html`
      ${webhookHead(webhook, visit, ports.ids.next('form'))}
      ${secret}
      ${formError(refusalOf(refusal, 'test') ?? refusalOf(refusal, 'again'))}
      ${deliveriesSection({
        webhook,
        deliveries: listPart(found, pageSize),
        before,
        now: visit.now,
        mayRepeat: visit.may('webhook.change'),
      })}
      ${visit.may('webhook.change') && changeSection(webhook, refusalOf(refusal, 'change'))}
      ${visit.may('webhook.rotate') && secretSection(webhook, { now: visit.now, once: ports.ids.next('form'), refusal: refusalOf(refusal, 'rotate') })}`;
    return { title: `Webhook to ${nameOf(webhook)}`, content };
  },
  forms: [
    change(ports),
    rotation(ports),
    ...switches(ports),
    testing(ports),
    repetition(ports),
    removal(ports),
  ],
});

const deliveryIn = (query: URLSearchParams): string | undefined => {
  const before = query.get('before') ?? '';
  return /^[\w-]{1,64}$/.test(before) ? before : undefined;
};

const webhookHead = (webhook: Webhook, { now, may }: Visit, once: string): Html =>
  head(nameOf(webhook), stateInWords(webhook, now), {
    trail: [['Webhooks', webhooksPath]],
    beside: stateOf(webhook),
    actions: actions(webhook, may, once),
    more: html`${copyable(webhook.address, 'called address')}
    <p class="hint">Called for ${kindsOf(webhook)} · added ${day(webhook.createdAt)}</p>`,
  });

const actions = (webhook: Webhook, may: Visit['may'], once: string): Html => {
  const own = webhookPath(webhook.id);
  const removing = confirmedForm({
    id: 'remove',
    label: 'Remove',
    about: `Remove the webhook to ${nameOf(webhook)}`,
    question: html`Remove the webhook to <span class="name">${nameOf(webhook)}</span>?`,
    consequences:
      'It is no longer called, its secret is gone, and deliveries that wait are cancelled. What we sent to it, and its answers, are deleted within 30 days. This cannot be undone.',
    confirm: 'Remove webhook',
    action: `${own}/remove`,
    once,
  });
  const remove = may('webhook.remove') && removing;
  if (!may('webhook.change')) return html`${remove}`;
  return webhook.status.state === 'on'
    ? html`${buttonForm(`${own}/test`, 'Send a test')}${buttonForm(`${own}/off`, 'Switch off')}${remove}`
    : html`${buttonForm(`${own}/on`, 'Switch on')}${remove}`;
};

const changeSection = (webhook: Webhook, refusal: Refusal | undefined): Html =>
  html`<section class="card">
    <details ${refusal && html`open`}>
      <summary>Change its address or kinds</summary>
      ${draftForm({ action: `${webhookPath(webhook.id)}/change`, button: 'Save changes', current: webhook, refusal })}
    </details>
  </section>`;

const to = ({ webhookId }: ReturnType<typeof idsOf>, done: string) => ({
  to: webhookPath(webhookId),
  done,
});

const change = ({ webhooks }: Ports): Form =>
  form({
    name: 'change',
    operation: 'webhook.change',
    path: `${path}/change`,
    schema: webhookDraft,
    field: 'address',
    act: async (visit, draft) => {
      await webhooks.changeWebhook(idsOf(visit), draft);
      return to(idsOf(visit), 'changed');
    },
  });

const rotation = ({ webhooks }: Ports): Form =>
  form({
    name: 'rotate',
    operation: 'webhook.rotate',
    showsSecret: true,
    path: `${path}/rotate`,
    schema: overlapSchema,
    once: true,
    act: async (visit, { overlap }) => {
      const rotated = await webhooks.rotateWebhookSecret(idsOf(visit), overlap);
      return { ...shownSecret({ ...rotated, overlap, now: visit.now }), status: 200 };
    },
  });

const pressed = (
  name: string,
  of: { readonly path: string; readonly done: string },
  act: (visit: Visit) => Promise<unknown>,
): Form =>
  bareForm({
    name,
    operation: 'webhook.change',
    path: `${path}/${of.path}`,
    act: async (visit) => {
      await act(visit);
      return to(idsOf(visit), of.done);
    },
  });

const switches = ({ webhooks }: Ports): readonly Form[] => [
  pressed('on', { path: 'on', done: 'on' }, (visit) => webhooks.switchWebhookOn(idsOf(visit))),
  pressed('off', { path: 'off', done: 'off' }, (visit) => webhooks.switchWebhookOff(idsOf(visit))),
];

const testing = ({ webhooks }: Ports): Form =>
  pressed('test', { path: 'test', done: 'tested' }, (visit) => webhooks.testWebhook(idsOf(visit)));

const repetition = ({ webhooks }: Ports): Form =>
  bareForm({
    name: 'again',
    operation: 'webhook.change',
    path: `${path}/deliveries/:delivery/again`,
    act: async (visit) => {
      const { webhookId } = idsOf(visit);
      const { delivery = '' } = visit.parameters;
      await webhooks.repeatDelivery(idsOf(visit), delivery);
      const page = webhookPath(webhookId) + placeIn(visit.query, ['before']);
      return { to: `${page}#${delivery}`, done: 'again' };
    },
  });

const removal = ({ webhooks }: Ports): Form =>
  bareForm({
    name: 'remove',
    operation: 'webhook.remove',
    path: `${path}/remove`,
    once: true,
    act: async (visit) => {
      await webhooks.removeWebhook(idsOf(visit));
      return { to: webhooksPath, done: 'removed' };
    },
  });
