import { parseExact, stringifyExact } from './exact-json.ts';
import { retryingFetch, wait, type Patience } from './retrying-fetch.ts';
import { errorOf } from './store-error.ts';
import type { CallOptions, ListOptions, NewPet, Order, Pet, PetStatus } from './store-types.ts';

export { isStoreError, StoreError, type ErrorCode } from './store-error.ts';
export type * from './store-types.ts';

export interface AnimalStoreOptions extends Partial<Patience> {
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string;
}

/** The API of one store. Ids are bigints. Every method throws StoreError for an error that the API answered. */
export class AnimalStore {
  readonly #baseUrl: string;
  readonly #apiKey: string;
  readonly #send: ReturnType<typeof retryingFetch>;

  constructor({ baseUrl, apiKey, ...patience }: AnimalStoreOptions) {
    this.#baseUrl = baseUrl.replace(/\/$/, '');
    this.#apiKey = apiKey;
    const byDefault = {
      tries: 5,
      longestWait: 90,
      timeoutMs: 30_000,
      fetch: globalThis.fetch,
      wait,
    };
    this.#send = retryingFetch({ ...byDefault, ...patience });
  }

  /**
   * Adds an animal. Without an idempotency key, creates one for this call, so that its retries add only one
   * animal.
   */
  async createPet(
    pet: NewPet,
    options: CallOptions & { readonly idempotencyKey?: string } = {},
  ): Promise<Pet> {
    const headers = {
      'Content-Type': 'application/json',
      'Idempotency-Key': options.idempotencyKey ?? crypto.randomUUID(),
    };
    const init = { method: 'POST', headers, body: stringifyExact(pet) };
    return read<Pet>(await this.#call(`${this.#baseUrl}/pets`, options, init));
  }

  /** All animals in ascending order of id. Fetches the next page when the previous one is used up. */
  listPets(options: ListOptions & CallOptions & { readonly status?: PetStatus } = {}) {
    const filter = options.status === undefined ? '' : `&status=${options.status}`;
    return this.#pages<Pet>(`/pets?limit=${String(options.pageSize ?? 100)}${filter}`, options);
  }

  /** @deprecated The API removes it on 5 December 2030. Use `listPets`. */
  async getPet(id: bigint, options: CallOptions = {}): Promise<Pet> {
    return read<Pet>(await this.#call(`${this.#baseUrl}/pets/${String(id)}`, options));
  }

  /** All orders by id, ascending. Experimental: the shape of an order may change. */
  listOrders(options: ListOptions & CallOptions = {}) {
    return this.#pages<Order>(`/store/orders?limit=${String(options.pageSize ?? 100)}`, options);
  }

  async *#pages<Item>(path: string, options: CallOptions): AsyncGenerator<Item, void, undefined> {
    const first = new URL(this.#baseUrl + path);
    let next: URL | undefined = first;
    while (next !== undefined) {
      const answer: Response = await this.#call(next.href, options);
      yield* await read<readonly Item[]>(answer);
      next = nextPage(answer.headers.get('Link'), first);
    }
  }

  async #call(url: string, { signal }: CallOptions, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    headers.set('Authorization', `Bearer ${this.#apiKey}`);
    const answer = await this.#send(url, { ...init, headers, ...(signal && { signal }) });
    if (!answer.ok) throw await errorOf(answer);
    return answer;
  }
}

const read = async <Body>(answer: Response): Promise<Body> =>
  parseExact(await answer.text(), BigInt) as Body;

/** Takes only the query from the answer, so that the API key is sent only to the base address. */
const nextPage = (link: string | null, first: URL): URL | undefined => {
  const [, query] = /<[^<>?]*(\?[^<>]*)>; rel="next"/.exec(link ?? '') ?? [];
  return query === undefined ? undefined : new URL(query, first);
};
