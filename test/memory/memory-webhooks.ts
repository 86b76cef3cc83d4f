import { webhookNotFound } from '../../src/notifications/domain/notifications-error.ts';
import type { WebhookSecrets } from '../../src/notifications/domain/webhooks/secrets.ts';
import type { Webhook } from '../../src/notifications/domain/webhooks/webhook.ts';
import { Webhooks, type WebhookOf } from '../../src/notifications/webhook-ports.ts';
import type { MemoryOutbox } from './memory-outbox.ts';

interface Kept {
  readonly webhook: Webhook;
  readonly secrets: WebhookSecrets;
}

export interface WebhookWatcher {
  saved(webhook: Webhook): void;
  removed(id: string): void;
}

export class MemoryWebhooks extends Webhooks {
  readonly #outbox: Pick<MemoryOutbox, 'append'>;
  readonly #accountExists: (id: string) => Promise<boolean>;
  readonly #kept = new Map<string, Kept>();
  /** For the other adapters of this folder. */
  watcher: WebhookWatcher | undefined;

  constructor(
    outbox: Pick<MemoryOutbox, 'append'>,
    accountExists: (id: string) => Promise<boolean>,
  ) {
    super();
    this.#outbox = outbox;
    this.#accountExists = accountExists;
  }

  override async add(accountId: string, decide: Parameters<Webhooks['add']>[1]): Promise<Webhook> {
    if (!(await this.#accountExists(accountId))) throw new Error('no such account');
    const { state, secrets, events } = decide(this.#of(accountId).length);
    this.#kept.set(state.id, structuredClone({ webhook: state, secrets }));
    this.#outbox.append(events);
    return state;
  }

  override list(accountId: string): Promise<readonly Webhook[]> {
    return Promise.resolve(structuredClone(this.#of(accountId)));
  }

  override find(of: WebhookOf): Promise<Webhook | undefined> {
    const webhook = this.peek(of.webhookId)?.webhook;
    return Promise.resolve(webhook?.accountId === of.accountId ? webhook : undefined);
  }

  override async change(
    of: WebhookOf,
    decide: Parameters<Webhooks['change']>[1],
  ): Promise<Webhook> {
    await Promise.resolve();
    const { webhook, secrets } = this.#own(of);
    const { state, secrets: anew = secrets, events } = decide(webhook, () => secrets);
    this.save(state, anew);
    this.#outbox.append(events);
    return state;
  }

  override async remove(of: WebhookOf, decide: Parameters<Webhooks['remove']>[1]): Promise<void> {
    await Promise.resolve();
    const events = decide(this.#own(of).webhook);
    this.#kept.delete(of.webhookId);
    this.watcher?.removed(of.webhookId);
    this.#outbox.append(events);
  }

  /** For the other adapters of this folder. */
  peek(id: string): Kept | undefined {
    return structuredClone(this.#kept.get(id));
  }

  /** For the other adapters of this folder. */
  save(webhook: Webhook, secrets = this.#kept.get(webhook.id)?.secrets ?? []): void {
    this.#kept.set(webhook.id, structuredClone({ webhook, secrets }));
    this.watcher?.saved(webhook);
  }

  /** For the other adapters of this folder. */
  get all(): readonly Webhook[] {
    return [...this.#kept.values()].map(({ webhook }) => webhook);
  }

  #of(accountId: string): readonly Webhook[] {
    return this.all.filter((webhook) => webhook.accountId === accountId);
  }

  #own({ accountId, webhookId }: WebhookOf): Kept {
    const kept = this.peek(webhookId);
    if (kept?.webhook.accountId !== accountId) throw webhookNotFound(webhookId);
    return kept;
  }
}
