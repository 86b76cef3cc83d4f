import { receiverOf } from '../../../notifications/domain/destination.ts';
import { failedForMs, longestFailingMs } from '../../../notifications/domain/webhook-delivery.ts';
import type { Webhook } from '../../../notifications/domain/webhook.ts';
import type { WebhookOf } from '../../../notifications/webhook-ports.ts';
import { html, type Html, nothing } from '../frame/html.ts';
import { notFound } from '../frame/page-problem.ts';
import { badge, counted, time } from '../frame/parts.ts';
import type { Visit } from '../frame/screen.ts';
import type { DashboardPorts } from '../ports.ts';
import { dayMs } from '../../../kernel/durations.ts';

export const webhooksPath = '/dashboard/webhooks';
export const webhookPath = (id: string): string => `${webhooksPath}/${id}`;

export const idsOf = ({ accountId, parameters }: Visit): WebhookOf => ({
  accountId,
  webhookId: parameters['webhook'] ?? '',
});

export const webhookOf = async (
  { webhooks }: Pick<DashboardPorts, 'webhooks'>,
  visit: Visit,
): Promise<Webhook> => {
  const webhook = await webhooks.findWebhook(idsOf(visit));
  if (!webhook) throw notFound();
  return webhook;
};

export const nameOf = ({ address }: Webhook): string => receiverOf(address);

export const stateOf = ({ status }: Webhook): Html => {
  if (status.state === 'off') return badge('off', status.reason === 'by_hand' ? 'idle' : 'bad');
  return status.failingSince ? badge('failing', 'busy') : badge('on', 'good');
};

export const kindsOf = ({ kinds }: Webhook): Html => {
  if (kinds === 'all') return html`all events`;
  return html`<span title="${kinds.join(', ')}">${counted(kinds.length, 'kind').replace(' ', '\u00a0')}</span>`;
};

export const stateInWords = ({ status }: Webhook, now: Date): Html => {
  if (status.state === 'off') {
    const since = html`Off since ${time(status.offSince, now)}.`;
    switch (status.reason) {
      case 'by_hand':
        return html`${since} It is not called.`;
      case 'gone':
        return html`${since} It answered 410 Gone, so we no longer call it. Switch it on again once its receiver works.`;
      case 'failing':
        return html`${since} All attempts failed for five days, so we no longer call it. Switch it on again once its receiver works.`;
    }
  }
  const { failingSince, failedAt = failingSince } = status;
  if (!failingSince || !failedAt) return nothing;
  const left = longestFailingMs - failedForMs({ failingSince, failedAt });
  const daysLeft = counted(Math.ceil(left / dayMs), 'more day');
  return html`Failing: the last attempt was ${time(failedAt, now)}. If attempts fail for ${daysLeft}, we switch it off and notify you.`;
};
