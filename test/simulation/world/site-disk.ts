import { createHash } from 'node:crypto';
import {
  SiteFiles,
  type Encoding,
  type SiteDraft,
  type SiteSource,
  type StoredFile,
} from '../../../src/sites/ports.ts';
import { allOf, entry, sourceOf } from '../../support/sites/sites.ts';

interface KeptFile extends StoredFile {
  readonly content: Buffer;
}

export class SiteDisk extends SiteFiles {
  readonly #deploys = new Map<string, readonly KeptFile[]>();

  get deployIds(): readonly string[] {
    return [...this.#deploys.keys()];
  }

  override begin(deployId: string): Promise<SiteDraft> {
    this.#deploys.delete(deployId);
    const kept: KeptFile[] = [];
    return Promise.resolve({
      write: async (path, content) => {
        kept.push(keptFile(path, await allOf(content)));
      },
      commit: (_onProgress, wrapping = '') => {
        const unwrapped = kept.map((file) => ({ ...file, path: file.path.slice(wrapping.length) }));
        this.#deploys.set(deployId, unwrapped);
        return Promise.resolve();
      },
    });
  }

  override putBack(): Promise<void> {
    return Promise.reject(new Error('no deploy is put back in a simulation'));
  }

  override list(deployId: string): Promise<readonly StoredFile[] | undefined> {
    return Promise.resolve(this.#deploys.get(deployId));
  }

  override async *read(
    deployId: string,
    file: StoredFile,
    encoding: Encoding,
    { first, last }: { readonly first: number; readonly last: number } = {
      first: 0,
      last: Infinity,
    },
  ): AsyncIterable<Uint8Array> {
    const deploy = await Promise.resolve(this.#deploys.get(deployId));
    const kept = deploy?.find(({ path }) => path === file.path);
    if (!kept || encoding !== 'identity') throw new Error(`no ${file.path} to read`);
    yield kept.content.subarray(first, last + 1);
  }

  override remove(deployId: string): Promise<void> {
    this.#deploys.delete(deployId);
    return Promise.resolve();
  }
}

const keptFile = (path: string, content: Buffer): KeptFile => {
  const hash = createHash('sha256').update(content).digest('base64url');
  return { path, bytes: content.length, hash, brotli: undefined, gzip: undefined, content };
};

/** Every upload is a site of two files, except the one named `empty`. */
export const siteOf = (upload: string): Promise<SiteSource> =>
  Promise.resolve(
    upload === 'empty'
      ? sourceOf()
      : sourceOf(entry('index.html', `<h1>${upload}</h1>`), entry('site.css', 'h1 {}')),
  );
