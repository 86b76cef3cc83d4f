import type { SiteContents } from '../../../sites/domain/site-contents.ts';
import { SiteUnpacking, type DeployPlace, type OnProgress } from '../../../sites/ports.ts';
import type { S3SiteFiles } from './s3-site-files.ts';

/** Uploads what another unpacking leaves in the staging folder, which so needs neither network nor credentials. */
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
