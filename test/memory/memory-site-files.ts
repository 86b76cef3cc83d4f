import { createHash } from 'node:crypto';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { Unavailable } from '../../src/kernel/unavailable.ts';
import {
  SiteFiles,
  type Encoding,
  type ReadForm,
  type SiteDraft,
  type StoredFile,
} from '../../src/sites/ports.ts';

interface Kept {
  readonly file: StoredFile;
  readonly forms: Readonly<Record<Encoding, Buffer | undefined>>;
}

/** Tries to make every file smaller, whatever its type. */
export class MemorySiteFiles extends SiteFiles {
  readonly #deploys = new Map<string, readonly Kept[]>();
  readonly #drafts = new Map<string, SiteDraft>();

  override begin(deployId: string): Promise<SiteDraft> {
    const kept: Kept[] = [];
    const draft: SiteDraft = {
      write: async (path, content) => {
        kept.push(keep(path, await bytesOf(content)));
      },
      commit: async (onProgress, wrapping = '') => {
        await Promise.resolve();
        if (this.#drafts.get(deployId) !== draft) throw gone(`a draft of ${deployId}`);
        for (const at of kept.keys()) onProgress(at + 1);
        this.#drafts.delete(deployId);
        const unwrapped = kept.map((one) => ({
          ...one,
          file: { ...one.file, path: one.file.path.slice(wrapping.length) },
        }));
        this.#deploys.set(deployId, unwrapped);
      },
    };
    this.#deploys.delete(deployId);
    this.#drafts.set(deployId, draft);
    return Promise.resolve(draft);
  }

  override async putBack(
    deployId: string,
    files: readonly StoredFile[],
    read: ReadForm,
  ): Promise<void> {
    await this.remove(deployId);
    const form = async (file: StoredFile, encoding: Encoding, bytes: number | undefined) =>
      bytes === undefined ? undefined : await bytesOf(read(file, encoding));
    const kept: Kept[] = [];
    for (const file of files) {
      const identity = await form(file, 'identity', file.bytes);
      const [br, gzip] = [await form(file, 'br', file.brotli), await form(file, 'gzip', file.gzip)];
      kept.push({ file: structuredClone(file), forms: { identity, br, gzip } });
    }
    this.#deploys.set(deployId, kept);
  }

  override list(deployId: string): Promise<readonly StoredFile[] | undefined> {
    const kept = this.#deploys.get(deployId);
    return Promise.resolve(structuredClone(kept?.map(({ file }) => file)));
  }

  override async *read(
    deployId: string,
    { hash }: StoredFile,
    encoding: Encoding,
    range?: { readonly first: number; readonly last: number },
  ): AsyncGenerator<Uint8Array, void, undefined> {
    await Promise.resolve();
    const kept = this.#deploys.get(deployId)?.find(({ file }) => file.hash === hash);
    const form = kept?.forms[encoding];
    if (!form) throw gone(`${hash} as ${encoding}`);
    const part = range ? form.subarray(range.first, range.last + 1) : form;
    if (part.length > 0) yield new Uint8Array(part);
  }

  override remove(deployId: string): Promise<void> {
    this.#deploys.delete(deployId);
    this.#drafts.delete(deployId);
    return Promise.resolve();
  }
}

const gone = (what: string): Unavailable =>
  new Unavailable('The storage', new Error(`${what} is not there`));

const bytesOf = async (content: AsyncIterable<Uint8Array>): Promise<Buffer> => {
  const chunks = [];
  for await (const chunk of content) chunks.push(new Uint8Array(chunk));
  return Buffer.concat(chunks);
};

const keep = (path: string, identity: Buffer): Kept => {
  const quick = { [constants.BROTLI_PARAM_QUALITY]: 4 };
  const br = ifSmaller(brotliCompressSync(identity, { params: quick }), identity);
  const gzip = ifSmaller(gzipSync(identity), identity);
  const hash = createHash('sha256').update(identity).digest('base64url');
  const { length: bytes } = identity;
  const file = { path, bytes, hash, brotli: br?.length, gzip: gzip?.length };
  return { file, forms: { identity, br, gzip } };
};

const ifSmaller = (form: Buffer, { length: bytes }: Buffer): Buffer | undefined =>
  bytes >= 256 && form.length <= bytes * 0.95 ? form : undefined;
