import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import PQueue from 'p-queue';
import type { StoredForm } from '../manifest.ts';
import type { ContentCache, Fetch } from './content-cache.ts';
import type { S3Store } from './s3-store.ts';

const pieceBytes = 64 * 1024;
/** Large contents are fetched and cached in blocks, which limits waiting and memory. */
const blockBytes = 1024 * 1024;
const fetchedAtOnce = 16;
const missing = { most: 1_000, forMs: 1_000 };

interface Block {
  readonly name: string;
  readonly first: number;
  readonly bytes: number;
  readonly hash: string | undefined;
}

export class S3Contents {
  readonly #store: S3Store;
  readonly #cache: ContentCache;
  readonly #fetching = new PQueue({ concurrency: fetchedAtOnce });
  readonly #missing = new LRUCache<string, true>({ max: missing.most, ttl: missing.forMs });

  constructor(store: S3Store, cache: ContentCache) {
    this.#store = store;
    this.#cache = cache;
  }

  whole(deployId: string, name: string): Promise<Buffer | undefined> {
    const path = `${deployId}/${name}`;
    return this.#cache.whole(path, () => this.#fetch(path));
  }

  /** Reads at most 64 KiB, up to `end`. @throws S3Failure; Error if the content is missing or wrong */
  async piece(
    deployId: string,
    form: StoredForm,
    { at, end }: { readonly at: number; readonly end: number },
  ): Promise<Uint8Array> {
    const block = blockAt(form, at);
    const { name, first } = block;
    const bytes = Math.min(pieceBytes, end - at, first + block.bytes - at);
    const path = `${deployId}/${form.name}`;
    const fetch: Fetch = async () => checked(block, await this.#fetch(path, block));
    const piece = await this.#cache.part(
      `${deployId}/${name}`,
      { position: at - first, bytes },
      fetch,
    );
    if (!piece) throw new Error(`${path} is not there`);
    return piece;
  }

  async forget(deployId: string): Promise<void> {
    for (const path of this.#missing.keys()) {
      if (path.startsWith(`${deployId}/`)) this.#missing.delete(path);
    }
    await this.#cache.forget(deployId);
  }

  async #fetch(path: string, block?: Block): Promise<Buffer | undefined> {
    if (this.#missing.has(path)) return undefined;
    const range = block && { first: block.first, last: block.first + block.bytes - 1 };
    const content = await this.#fetching.add(() => this.#store.read(path, range));
    if (!content) this.#missing.set(path, true);
    return content;
  }
}

const blockAt = ({ name, bytes }: StoredForm, at: number): Block => {
  const first = at - (at % blockBytes);
  return {
    name: `${name}.${String(first / blockBytes)}`,
    first,
    bytes: Math.min(blockBytes, bytes - first),
    hash: bytes <= blockBytes && !name.includes('.') ? name : undefined,
  };
};

const checked = ({ name, hash }: Block, content: Buffer | undefined): Buffer | undefined => {
  const isRight =
    !content ||
    hash === undefined ||
    createHash('sha256').update(content).digest('base64url') === hash;
  if (!isRight) throw new Error(`${name} has other bytes than were stored`);
  return content;
};
