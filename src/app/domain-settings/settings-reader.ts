import { Overrun, ThreadPool, type ThreadLimits } from '../../adapters/threads/thread-pool.ts';
import type { DomainsErrorCode } from '../../domains/domain/domains-error.ts';
import type { DomainSettingsDraft } from '../../domains/domain/redirects/redirects.ts';
import { DomainError } from '../../kernel/decision.ts';

/** Settings usually take a few milliseconds to read. */
export const settingsLimits: ThreadLimits = { deadlineMs: 3_000, memoryMiB: 128 };

export class SettingsReader {
  readonly #pool: ThreadPool<string, DomainSettingsDraft>;

  constructor(
    entry = new URL('../threads/read-settings.ts', import.meta.url),
    limits: ThreadLimits = settingsLimits,
  ) {
    this.#pool = new ThreadPool({ entry, ...limits, threads: 1, mostWaiting: 20 });
  }

  /**
   * Reads settings in a thread.
   * @throws DomainError `redirect_invalid` like `readDomainSettings`, or if a limit is exceeded; Unavailable
   */
  async read(text: string): Promise<DomainSettingsDraft> {
    try {
      return await this.#pool.run(text);
    } catch (error) {
      throw error instanceof Overrun ? tooCostly(error) : error;
    }
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}

const tooCostly = ({ of }: Overrun): DomainError<DomainsErrorCode> =>
  new DomainError(
    'redirect_invalid',
    of === 'time'
      ? 'This configuration takes too long to read. Make it shorter and simpler.'
      : 'This configuration takes too much memory to read. Make it shorter and simpler.',
  );
