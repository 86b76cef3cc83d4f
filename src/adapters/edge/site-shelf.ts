import { buffer } from 'node:stream/consumers';
import { LRUCache } from 'lru-cache';
import type { SiteFiles } from '../../sites/ports.ts';
import { servedFile, type ServedFile, type ServedForm } from './served-file.ts';

export type ServedSite = ReadonlyMap<string, ServedFile>;

const most = {
  sites: 10_000,
  /** Over all remembered sites. */
  files: 200_000,
  contentBytes: 64 * 1024 * 1024,
  bytesOfOneContent: 512 * 1024,
};

/** Remembers what is asked for often: lists of files, and the content of small ones. A deploy never changes. */
export class SiteShelf {
  readonly #files: SiteFiles;
  readonly #sites: LRUCache<string, ServedSite>;
  readonly #contents: LRUCache<ServedForm, Buffer, string>;

  /** @param contentBytes how much content is remembered, over all sites */
  constructor(files: SiteFiles, contentBytes = most.contentBytes) {
    this.#files = files;
    this.#sites = new LRUCache<string, ServedSite>({
      max: most.sites,
      maxSize: most.files,
      sizeCalculation: (site) => site.size + 1,
      ignoreFetchAbort: true,
      fetchMethod: async (deployId) => {
        const stored = await files.list(deployId);
        return stored && new Map(stored.map((file) => [file.path, servedFile(file)]));
      },
    });
    this.#contents = new LRUCache<ServedForm, Buffer, string>({
      maxSize: contentBytes,
      sizeCalculation: (content) => content.length + 1,
      ignoreFetchAbort: true,
      fetchMethod: (form, _stale, { context: deployId }) =>
        buffer(files.read(deployId, form.file, form.encoding)),
    });
  }

  /** At once where it is remembered. @returns undefined when there is no such deploy @throws Unavailable */
  site(deployId: string): ServedSite | undefined | Promise<ServedSite | undefined> {
    return this.#sites.get(deployId) ?? this.#sites.fetch(deployId);
  }

  /** The whole of a small form; undefined for a large one, which has to be read piece by piece. @throws Unavailable */
  content(deployId: string, form: ServedForm): Buffer | undefined | Promise<Buffer | undefined> {
    if (form.bytes > most.bytesOfOneContent) return undefined;
    return this.#contents.get(form) ?? this.#contents.fetch(form, { context: deployId });
  }

  read(
    deployId: string,
    form: ServedForm,
    range?: { readonly first: number; readonly last: number },
  ): AsyncIterable<Uint8Array> {
    return this.#files.read(deployId, form.file, form.encoding, range);
  }
}
