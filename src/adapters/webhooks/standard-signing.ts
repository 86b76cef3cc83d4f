import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { WebhookSigning } from '../../notifications/webhook-ports.ts';

/** https://github.com/standard-webhooks/standard-webhooks: 24 to 64 bytes. */
const secretBytes = 32;

export class StandardSigning extends WebhookSigning {
  override newSecret(): string {
    return `whsec_${randomBytes(secretBytes).toString('base64')}`;
  }

  override headers(
    { id, body }: { readonly id: string; readonly body: string },
    secrets: readonly string[],
    at: Date,
  ): Readonly<Record<string, string>> {
    const signatures = secrets.map((secret) => new Webhook(secret).sign(id, at, body));
    return {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': signatures.join(' '),
    };
  }
}
