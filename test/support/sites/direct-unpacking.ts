import type { SiteContents } from '../../../src/sites/domain/site-contents.ts';
import {
  SiteUnpacking,
  type DeployPlace,
  type OnProgress,
  type SiteFiles,
  type SiteSource,
} from '../../../src/sites/ports.ts';
import { unpackSite } from '../../../src/sites/use-cases/deploy-site.ts';

/** Unpacks in the thread that asks for it. */
export class DirectUnpacking<Upload> extends SiteUnpacking<Upload> {
  readonly #files: SiteFiles;
  readonly #open: (upload: Upload) => Promise<SiteSource>;

  constructor(files: SiteFiles, open: (upload: Upload) => Promise<SiteSource>) {
    super();
    this.#files = files;
    this.#open = open;
  }

  override async unpack(
    { deployId, room }: DeployPlace,
    upload: Upload,
    onProgress: OnProgress,
  ): Promise<SiteContents> {
    const source = await this.#open(upload);
    return unpackSite(source, { draft: await this.#files.begin(deployId), room }, onProgress);
  }
}
