/** An answer is kept for 24 hours under its idempotency key; afterwards the key is free again. */
export const idempotencyRetentionMs = 24 * 60 * 60 * 1000;

export const longestIdempotencyKey = 255;

export const forgottenBefore = (now: Date): Date =>
  new Date(now.getTime() - idempotencyRetentionMs);
