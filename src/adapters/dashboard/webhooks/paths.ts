import type { Webhook } from '../../../notifications/domain/webhook.ts';
import type { WebhookOf } from '../../../notifications/webhook-ports.ts';
import { notFound } from '../frame/page-problem.ts';
import type { DashboardPorts } from '../frame/ports.ts';
import type { Visit } from '../frame/screen.ts';

export const webhooksPath = '/dashboard/webhooks';
export const webhookPath = (id: string): string => `${webhooksPath}/${id}`;

/** The webhook that the path names. */
export const idsOf = ({ accountId, parameters }: Visit): WebhookOf => ({
  accountId,
  webhookId: parameters['webhook'] ?? '',
});

/** @throws PageProblem */
export const webhookOf = async (
  { webhooks }: Pick<DashboardPorts, 'webhooks'>,
  visit: Visit,
): Promise<Webhook> => {
  const webhook = await webhooks.findWebhook(idsOf(visit));
  if (!webhook) throw notFound();
  return webhook;
};
