import { S3Failure } from './s3-failure.ts';

const most = { failures: 3, restMs: 1_000 };

/**
 * Remembers that the store does not answer. Then only one request a second goes there, and the others fail at once:
 * visitors whose files are here do not wait behind those whose files are not.
 */
export class Reachability {
  #failures = 0;
  #isTrying = false;
  #restsUntil = -Infinity;

  get isAway(): boolean {
    return this.#failures >= most.failures;
  }

  /** @throws S3Failure at once while the store is away; whatever `work` throws */
  async during<T>(work: () => Promise<T>): Promise<T> {
    const { isAway } = this;
    if (isAway && (this.#isTrying || performance.now() < this.#restsUntil)) {
      throw new S3Failure('Away', 'it did not answer a moment ago', 0);
    }
    if (isAway) this.#isTrying = true;
    try {
      const result = await work();
      this.#failures = 0;
      return result;
    } catch (error) {
      this.#failures = S3Failure.of(error).isPassing ? this.#failures + 1 : 0;
      this.#restsUntil = performance.now() + most.restMs;
      throw error;
    } finally {
      if (isAway) this.#isTrying = false;
    }
  }
}
