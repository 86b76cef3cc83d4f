import { DomainError } from '../../../kernel/domain-error.ts';
import type { NotificationsErrorCode } from '../notifications-error.ts';
import type { Webhook, WebhookDecision } from './webhook.ts';
import { about } from './webhook.ts';

/** How long the old secret also signs after a rotation, in milliseconds. */
export const secretOverlaps = {
  '0': 0,
  '15m': 15 * 60_000,
  '1h': 60 * 60_000,
  '24h': 24 * 60 * 60_000,
  '7d': 7 * 24 * 60 * 60_000,
} as const;
export type SecretOverlap = keyof typeof secretOverlaps;

/** `whsec_` and base64, as Standard Webhooks writes it. */
export interface WebhookSecret {
  readonly secret: string;
  /** Undefined for the current one. */
  readonly endsAt: Date | undefined;
}

/** The newest first. */
export type WebhookSecrets = readonly WebhookSecret[];

/** Each signature makes the header longer. */
export const mostSecrets = 5;

export const firstSecret = (secret: string): WebhookSecrets => [{ secret, endsAt: undefined }];

export interface Rotation extends WebhookDecision {
  readonly secrets: WebhookSecrets;
}

/**
 * Older secrets end with the overlap, or earlier if they were to end earlier.
 * @throws DomainError `webhook_limit_reached`: a secret that was promised to sign for some time does so
 */
export const rotateSecret = (
  webhook: Webhook,
  secrets: WebhookSecrets,
  { secret, overlap }: { readonly secret: string; readonly overlap: SecretOverlap },
  now: Date,
): Rotation => {
  const until = new Date(now.getTime() + secretOverlaps[overlap]);
  const old = secrets
    .map(({ secret: before, endsAt }) => ({ secret: before, endsAt: earlier(endsAt, until) }))
    .filter(({ endsAt }) => endsAt > now);
  if (old.length >= mostSecrets) throw tooManySecrets();
  return {
    state: { ...webhook, oldSecretsUntil: old.length > 0 ? until : undefined },
    secrets: [...firstSecret(secret), ...old],
    events: [
      { type: 'webhook_rotated', ...about(webhook, now), oldSecretUntil: until.toISOString() },
    ],
  };
};

/** The secrets that sign now: a receiver that knows one of them can verify. */
export const signingSecrets = (secrets: WebhookSecrets, now: Date): readonly string[] =>
  secrets.filter(({ endsAt }) => !endsAt || endsAt > now).map(({ secret }) => secret);

const tooManySecrets = () =>
  new DomainError<NotificationsErrorCode>(
    'webhook_limit_reached',
    `Messages are signed with ${String(mostSecrets)} secrets already. Rotate again once one of them has ended, or keep the old ones for no time.`,
  );

const earlier = (one: Date | undefined, other: Date): Date => (one && one < other ? one : other);
