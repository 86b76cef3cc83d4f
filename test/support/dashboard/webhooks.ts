import { settle, type Outcome } from '../../../src/notifications/domain/webhook-delivery.ts';
import { WebhookCallsKey } from '../../../src/app/keys.ts';
import { ownersKinds } from '../../../src/notifications/domain/kinds.ts';
import { ping } from '../../../src/notifications/domain/payload.ts';
import type { Webhook } from '../../../src/notifications/domain/webhook.ts';
import { WebhookDeliveries } from '../../../src/notifications/webhook-ports.ts';
import { allDue } from '../webhooks/stored-webhook.ts';
import type { Owner, RunningDashboard } from './running-dashboard.ts';

export const answered = (status: number, beginning: string): Outcome => ({
  ...{ kind: 'answered', status, beginning, tookMs: status === 200 ? 38 : 1204 },
});

/** Stores this outcome for each delivery that is due then. */
export const attemptAll = async (
  { container, clock }: RunningDashboard,
  outcome: Outcome,
  now = clock.now(),
): Promise<void> => {
  const deliveries = container.get(WebhookDeliveries);
  const claim = (isSlow: boolean) =>
    deliveries.claim(now, new Date(now.getTime() + 60_000), { ...allDue, isSlow });
  for (const one of [...(await claim(false)), ...(await claim(true))]) {
    const attempt = { ...outcome, at: now };
    await deliveries.settle(one, attempt, (current) =>
      settle(current, attempt, one.webhook?.address),
    );
  }
};

/** Adds a delivery that is due now. */
export const addPing = async (
  { container, clock }: RunningDashboard,
  webhook: Webhook,
  id: string,
): Promise<void> => {
  const body = ping(webhook, clock.now());
  const message = { accountId: webhook.accountId, id, type: body.type, body: JSON.stringify(body) };
  await container.get(WebhookDeliveries).add(message, [webhook], clock.now());
};

/**
 * Webhooks in every state, the first of them with deliveries in every state.
 * @param text what receivers answer
 * @returns the path of the first one
 */
export const fillWebhooks = async (
  dashboard: RunningDashboard,
  { accountId }: Owner,
  text: string,
): Promise<string> => {
  const calls = dashboard.container.get(WebhookCallsKey);
  const make = async (path: string, kinds: readonly string[] = ownersKinds) =>
    (await calls.addWebhook(accountId, { address: `https://hooks.zoo.test/${path}`, kinds }))
      .webhook;
  const of = ({ id: webhookId }: Webhook) => ({ accountId, webhookId });
  const [off, failing] = [await make('off', ['key.banned']), await make(`failing?${text}`)];
  await calls.switchWebhookOff(of(off));
  let messages = 0;
  const next = () => `evt_${accountId.slice(-20)}_ping_${(messages += 1)}`;
  const send = async (outcome: Outcome) => {
    await addPing(dashboard, failing, next());
    await attemptAll(dashboard, outcome);
  };
  await send(answered(200, text));
  await send(answered(500, text.repeat(9)));
  await send({ kind: 'failed', why: 'timeout', explanation: text, tookMs: 10_000 });
  await calls.rotateWebhookSecret(of(failing), '24h');
  await make('new');
  await addPing(dashboard, failing, next());
  return `/dashboard/webhooks/${failing.id}`;
};
