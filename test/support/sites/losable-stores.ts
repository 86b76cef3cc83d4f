import { Unavailable } from '../../../src/kernel/unavailable.ts';
import {
  SiteFiles,
  type Encoding,
  type ReadForm,
  type SiteDraft,
  type StoredFile,
} from '../../../src/sites/ports.ts';
import { EdgeRecords, type EdgeChanges } from '../../../src/domains/ports.ts';

const away = () => new Unavailable('The test', new Error('it is away'));

/** Passes everything on to other records unless `isAway` is set. */
export class LosableEdgeRecords extends EdgeRecords {
  isAway = false;
  /** How often an edge looked. */
  looks = 0;
  readonly #records: EdgeRecords;

  constructor(records: EdgeRecords) {
    super();
    this.#records = records;
  }

  override async changesSince(revision: bigint): Promise<EdgeChanges> {
    this.looks += 1;
    if (this.isAway) throw away();
    return this.#records.changesSince(revision);
  }

  override names(): Promise<readonly string[]> {
    return this.#records.names();
  }
}

/** Passes everything on to another storage unless `isAway` is set. */
export class LosableSiteFiles extends SiteFiles {
  isAway = false;
  /** Reads break off after so many bytes. */
  readsAtMost = Infinity;
  /** Bytes read until now. */
  bytesRead = 0;
  readonly #files: SiteFiles;
  #open = 0;

  constructor(files: SiteFiles) {
    super();
    this.#files = files;
  }

  /** How many reads have begun and not ended. */
  get open(): number {
    return this.#open;
  }

  override begin(deployId: string): Promise<SiteDraft> {
    return this.#files.begin(deployId);
  }

  override putBack(deployId: string, files: readonly StoredFile[], read: ReadForm): Promise<void> {
    return this.#files.putBack(deployId, files, read);
  }

  override async list(deployId: string): Promise<readonly StoredFile[] | undefined> {
    if (this.isAway) throw away();
    return this.#files.list(deployId);
  }

  override async *read(
    deployId: string,
    file: StoredFile,
    encoding: Encoding,
    range?: { readonly first: number; readonly last: number },
  ): AsyncGenerator<Uint8Array, void, undefined> {
    if (this.isAway) throw away();
    this.#open += 1;
    let left = this.readsAtMost;
    try {
      for await (const chunk of this.#files.read(deployId, file, encoding, range)) {
        this.bytesRead += chunk.length;
        yield chunk.subarray(0, left);
        left -= chunk.length;
        if (left <= 0) throw away();
      }
    } finally {
      this.#open -= 1;
    }
  }

  override remove(deployId: string): Promise<void> {
    return this.#files.remove(deployId);
  }
}
