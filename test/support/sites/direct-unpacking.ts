import { hash } from 'node:crypto';
import { lstat, readdir, readFile, mkdir, writeFile, readlink } from 'node:fs/promises';
import { join, dirname } from 'node:path';
import type { SiteContents } from '../../../src/sites/domain/site-contents.ts';
import {
  SiteUnpacking,
  type DeployPlace,
  type OnProgress,
  type SiteFiles,
  type SiteSource,
} from '../../../src/sites/ports.ts';
import { unpackSite } from '../../../src/sites/use-cases/deploy-site.ts';

/** Lists everything in a folder recursively: paths, and the permissions and content of files. */
export const listingOf = async (folder: string): Promise<readonly string[]> => {
  const paths = await readdir(folder, { recursive: true });
  const lines = paths.sort().map(async (path) => {
    const found = await lstat(join(folder, path));
    const mode = found.mode.toString(8);
    if (!found.isFile()) return `${path} ${mode}`;
    return `${path} ${mode} ${hash('sha256', await readFile(join(folder, path)))}`;
  });
  return Promise.all(lines);
};

export const plainTree = async (
  folder: string,
  files: Readonly<Record<string, string | Uint8Array>>,
): Promise<string> => {
  for (const [path, content] of Object.entries(files)) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
  }
  return folder;
};

/** The paths of all open files of this process, one for each descriptor. */
export const openPaths = async (): Promise<readonly string[]> => {
  const handles = await readdir('/proc/self/fd');
  const open = handles.map((one) => readlink(`/proc/self/fd/${one}`).catch(() => ''));
  return Promise.all(open);
};

export const isOpen = async (path: string): Promise<boolean> => (await openPaths()).includes(path);

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
