/** What the other side did, or what kept us from calling it. */
export type Outcome =
  | {
      readonly kind: 'answered';
      readonly status: number;
      /** The first KiB, as text. */
      readonly beginning: string;
      readonly tookMs: number;
    }
  | {
      readonly kind: 'failed';
      readonly why: FailedWhy;
      /** For the owner. */
      readonly explanation: string;
      readonly tookMs: number;
    };

export const failedWhys = [
  'not_public',
  'not_found',
  'refused',
  'reset',
  'timeout',
  'tls',
  'too_large',
  'unreadable',
  'unsigned',
  'stopped',
] as const;
export type FailedWhy = (typeof failedWhys)[number];

/** An attempt at a delivery, and when it began. */
export type Attempt = Outcome & { readonly at: Date };

export const deliveryStates = ['waiting', 'delivered', 'given_up', 'cancelled'] as const;

export type DeliveryProgress =
  /** Between attempts, or during one: then it is the end of the lease. */
  | { readonly state: 'waiting'; readonly nextAt: Date }
  | { readonly state: 'delivered' }
  /** All attempts failed. */
  | { readonly state: 'given_up' }
  /** The webhook was switched off or removed. */
  | { readonly state: 'cancelled' };

/** A message to one webhook. */
export interface WebhookDelivery {
  readonly id: string;
  readonly webhookId: string;
  readonly accountId: string;
  /** `webhook-id`: the same at each attempt, also when it is sent again. */
  readonly messageId: string;
  /** A kind, or `test.ping`; also those of newer versions. */
  readonly type: string;
  readonly body: string;
  readonly addedAt: Date;
  /** Since it was added, or sent again. */
  readonly failures: number;
  readonly progress: DeliveryProgress;
}
