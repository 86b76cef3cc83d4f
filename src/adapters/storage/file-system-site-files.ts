import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Unavailable } from '../../kernel/unavailable.ts';
import {
  SiteFiles,
  type Encoding,
  type ReadForm,
  type SiteDraft,
  type StoredFile,
} from '../../sites/ports.ts';
import { ignoreMissing, stored } from './failure.ts';
import { FileSystemDraft } from './file-system-draft.ts';
import { readManifest } from './manifest.ts';
import { OpenFiles } from './open-files.ts';
import { checkedId, formOf } from './stored-form.ts';

const pieceBytes = 64 * 1024;

/**
 * One folder per deploy: `<deployId>/manifest.json`, the list of its files, and for each distinct content `<hash>`,
 * `<hash>.br` and `<hash>.gz`. So no name from an archive ever becomes a path on the disk: the paths of a site are only
 * text in the manifest.
 * A deploy that is written or removed is called `.<deployId>.partial`. It appears and disappears by renaming, whole,
 * and what a crash leaves behind is removed under the same id.
 */
export class FileSystemSiteFiles extends SiteFiles {
  readonly #folder: string;
  readonly #open = new OpenFiles();

  /** @param folder of its own; made when it is not there, for this user only */
  constructor(folder: string) {
    super();
    this.#folder = folder;
  }

  override begin(deployId: string): Promise<SiteDraft> {
    return this.#draft(deployId);
  }

  override async putBack(
    deployId: string,
    files: readonly StoredFile[],
    read: ReadForm,
  ): Promise<void> {
    const draft = await this.#draft(deployId);
    try {
      await draft.putBack(files, read);
    } catch (error) {
      await this.remove(deployId).catch(() => undefined);
      throw error;
    }
  }

  async #draft(deployId: string): Promise<FileSystemDraft> {
    const { whole, partial } = this.#placesOf(deployId);
    await this.remove(deployId);
    await stored(async () => {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 });
      await mkdir(partial, { mode: 0o700 });
    });
    return new FileSystemDraft(partial, whole);
  }

  override async list(deployId: string): Promise<readonly StoredFile[] | undefined> {
    const { whole } = this.#placesOf(deployId);
    return stored(() => readManifest(whole).catch(ignoreMissing));
  }

  override async *read(
    deployId: string,
    file: StoredFile,
    encoding: Encoding,
    range?: { readonly first: number; readonly last: number },
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const { name, bytes } = formOf(file, encoding);
    const path = join(this.#placesOf(deployId).whole, name);
    const first = range?.first ?? 0;
    const end = Math.min((range?.last ?? Infinity) + 1, bytes);
    try {
      for (let position = first; position < end;) {
        const length = Math.min(pieceBytes, end - position);
        const piece = await this.#open.read(path, position, length);
        if (piece.length === 0) throw new Error(`${path} is shorter than it was stored`);
        position += piece.length;
        yield piece;
      }
    } catch (error) {
      throw new Unavailable('The storage', error);
    }
  }

  override async remove(deployId: string): Promise<void> {
    const { whole, partial } = this.#placesOf(deployId);
    this.#open.forget(whole);
    await stored(async () => {
      await discard(partial);
      await rename(whole, partial).catch(ignoreMissing);
      // Again, for files opened meanwhile; no later reader can find them by path.
      this.#open.forget(whole);
      await discard(partial);
    });
  }

  #placesOf(deployId: string): { readonly whole: string; readonly partial: string } {
    return {
      whole: join(this.#folder, checkedId(deployId)),
      partial: join(this.#folder, `.${deployId}.partial`),
    };
  }
}

const discard = (folder: string): Promise<void> => rm(folder, { recursive: true, force: true });
