import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { longestUploadMs } from '../../../sites/domain/site.ts';
import type { SiteContents } from '../../../sites/domain/site-contents.ts';
import {
  SiteFiles,
  SiteUnpacking,
  type DeployPlace,
  type Encoding,
  type OnProgress,
  type ReadForm,
  type SiteDraft,
  type StoredFile,
} from '../../../sites/ports.ts';
import { stored } from '../files.ts';
import { FileSystemSiteFiles } from '../file-system-site-files.ts';
import { checkedId, formOf, manifestName, parseManifest } from '../manifest.ts';
import type { ContentCache } from './content-cache.ts';
import { S3Contents } from './s3-contents.ts';
import { S3Drafts, type S3Draft } from './s3-drafts.ts';
import type { S3Store } from './s3-store.ts';

interface S3SiteFilesPorts {
  readonly store: S3Store;
  readonly cache: ContentCache;
  readonly staging: string;
}

type OnStored = (done: number, total: number) => void;

/** Uses the same names as `FileSystemSiteFiles`, so that deploys can be copied between the two. */
export class S3SiteFiles extends SiteFiles {
  readonly #store: S3Store;
  readonly #drafts: S3Drafts;
  readonly #contents: S3Contents;
  readonly #folder: string;
  readonly #staging: FileSystemSiteFiles;

  constructor({ store, cache, staging }: S3SiteFilesPorts) {
    super();
    this.#store = store;
    this.#drafts = new S3Drafts(store);
    this.#contents = new S3Contents(store, cache);
    this.#folder = staging;
    this.#staging = new FileSystemSiteFiles(staging);
  }

  async reach(): Promise<void> {
    await this.#store.read('reachable');
  }

  override async begin(deployId: string): Promise<SiteDraft> {
    const s3Draft = await this.#start(deployId);
    const draft = await this.#staging.begin(deployId);
    return {
      write: (path, content) => draft.write(path, content),
      commit: async (onProgress, wrapping) => {
        await draft.commit(() => undefined, wrapping);
        await this.#publish(s3Draft, onProgress);
      },
    };
  }

  async publishing<T>(deployId: string, fill: () => Promise<T>, onStored: OnStored): Promise<T> {
    const draft = await this.#start(deployId);
    const result = await fill();
    await this.#publish(draft, onStored);
    return result;
  }

  override async putBack(
    deployId: string,
    files: readonly StoredFile[],
    read: ReadForm,
  ): Promise<void> {
    const fill = () => this.#staging.putBack(deployId, files, read);
    try {
      await this.publishing(deployId, fill, () => undefined);
    } catch (error) {
      await this.remove(deployId).catch(() => undefined);
      throw error;
    }
  }

  override async list(deployId: string): Promise<readonly StoredFile[] | undefined> {
    checkedId(deployId);
    return stored(async () => {
      const manifest = await this.#contents.whole(deployId, manifestName);
      return manifest && parseManifest(manifest.toString());
    });
  }

  override async *read(
    deployId: string,
    file: StoredFile,
    encoding: Encoding,
    range?: { readonly first: number; readonly last: number },
  ): AsyncGenerator<Uint8Array, void, undefined> {
    checkedId(deployId);
    const form = formOf(file, encoding);
    const end = Math.min((range?.last ?? Infinity) + 1, form.bytes);
    for (let at = range?.first ?? 0; at < end;) {
      const from = { at, end };
      const piece = await stored(() => this.#contents.piece(deployId, form, from));
      at += piece.length;
      yield piece;
    }
  }

  override async remove(deployId: string): Promise<void> {
    checkedId(deployId);
    await this.#staging.remove(deployId);
    await stored(() => this.#drafts.remove(deployId));
    await stored(() => this.#contents.forget(deployId));
  }

  close(): void {
    this.#store.close();
  }

  async #start(deployId: string): Promise<S3Draft> {
    checkedId(deployId);
    await removeLeftOvers(this.#folder);
    await this.#contents.forget(deployId);
    return stored(() => this.#drafts.start(deployId));
  }

  async #publish(draft: S3Draft, onStored: OnStored): Promise<void> {
    const { deployId } = draft;
    const folder = join(this.#folder, deployId);
    await stored(async () => {
      const files = await this.#staging.list(deployId);
      if (!files) throw new Error(`${folder} is gone`);
      await this.#drafts.publish(draft, { folder, files }, (done) => {
        onStored(done, files.length);
      });
    });
    await this.#contents.forget(deployId);
    await this.#staging.remove(deployId);
  }
}

/** Uploads the result of another unpacking, so that the other one needs neither network nor credentials. */
export class S3Unpacking extends SiteUnpacking {
  readonly #staging: SiteUnpacking;
  readonly #files: S3SiteFiles;

  constructor(staging: SiteUnpacking, files: S3SiteFiles) {
    super();
    this.#staging = staging;
    this.#files = files;
  }

  override async unpack(
    deploy: DeployPlace,
    upload: string,
    onProgress: OnProgress,
  ): Promise<SiteContents> {
    const fill = () => this.#staging.unpack(deploy, upload, onProgress);
    return this.#files.publishing(deploy.deployId, fill, (done, total) => {
      onProgress({ step: 'storing', done, total });
    });
  }
}

/** Removes the unfinished deploys of dead processes. Uses the machine's clock, as file dates do. */
const removeLeftOvers = async (folder: string): Promise<void> => {
  const old = Date.now() - longestUploadMs;
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => undefined);
    if (found && found.mtimeMs < old) await rm(path, { recursive: true, force: true });
  }
};
