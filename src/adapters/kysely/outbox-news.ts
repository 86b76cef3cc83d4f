import type { Acting } from '../../kernel/acting.ts';

export interface NewsPorts {
  readonly acting: Acting;
  /**
   * Called once after a commit with new events, with their accounts and whether any has a subscriber. What it starts
   * runs as actor `service`.
   */
  readonly onStored: (accountIds: readonly string[], hasDeliveries: boolean) => void;
}

interface News {
  readonly accounts: Set<string>;
  hasDeliveries: boolean;
}

/** What is stored together is reported together. */
export class OutboxNews {
  readonly #ports: NewsPorts;
  /** What is stored and still to be reported. */
  #news: News | undefined;

  constructor(ports: NewsPorts) {
    this.#ports = ports;
  }

  tell(accountId: string, hasDeliveries: boolean): void {
    const news = (this.#news ??= this.#plan());
    news.accounts.add(accountId);
    news.hasDeliveries ||= hasDeliveries;
  }

  #plan(): News {
    const news: News = { accounts: new Set(), hasDeliveries: false };
    queueMicrotask(() => {
      this.#news = undefined;
      this.#ports.acting.run('service', () => {
        this.#ports.onStored([...news.accounts], news.hasDeliveries);
      });
    });
    return news;
  }
}
