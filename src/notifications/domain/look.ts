import type { NotificationsEvent } from './notifications-event.ts';

/** What a look at a thing decided. */
export interface Look<Memory> {
  readonly memory: Memory;
  readonly events: readonly NotificationsEvent[];
  /** When to look again; undefined: when something happens to it. */
  readonly lookAt: Date | undefined;
}
