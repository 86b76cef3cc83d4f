import PQueue from 'p-queue';
import { oneForEach, storedForms } from '../../adapters/storage/stored-form.ts';
import type { Encoding, SiteFiles, StoredFile } from '../../sites/ports.ts';
import type { BackupFolder } from './folder.ts';
import type { Content, DeployList, Manifest } from './manifest.ts';

const filesAtOnce = 8;

export interface CopiedDeploy {
  readonly id: string;
  readonly list: Content;
  /** Of its contents. */
  readonly hashes: readonly string[];
}

/** Copies deploys into a backup. A deploy never changes, so one that an earlier backup has is not read again. */
export class DeployCopies {
  readonly #files: SiteFiles;
  readonly #folder: BackupFolder;
  readonly #earlier: Manifest['deploys'];
  readonly #copied = new Map<string, CopiedDeploy>();
  /** Bytes that were not in the backup before. */
  newBytes = 0;
  newDeploys = 0;

  constructor(files: SiteFiles, folder: BackupFolder, earlier: Manifest['deploys']) {
    this.#files = files;
    this.#folder = folder;
    this.#earlier = earlier;
  }

  /** Those of them that were copied. */
  named(ids: readonly string[]): readonly CopiedDeploy[] {
    return ids.flatMap((id) => this.#copied.get(id) ?? []);
  }

  /** @returns why not, if the storage does not have all of it @throws Unavailable */
  async copy(deployId: string): Promise<string | undefined> {
    if (this.#copied.has(deployId)) return undefined;
    const known = await this.#known(deployId);
    if (known) {
      this.#copied.set(deployId, known);
      return undefined;
    }
    const files = await this.#files.list(deployId);
    if (!files) return 'its files are missing';
    const contents = await this.#copyContents(deployId, files);
    const damaged = oneForEach(files).find(({ hash }) => contents[hash]?.sha256 !== hexOf(hash));
    if (damaged) return `${damaged.path} is damaged`;
    const list = await this.#folder.put([Buffer.from(JSON.stringify({ files, contents }))]);
    this.#copied.set(deployId, copiedDeploy(deployId, list, contents));
    this.newDeploys += 1;
    return undefined;
  }

  /** Unless something of it is missing, which is then copied again. */
  async #known(deployId: string): Promise<CopiedDeploy | undefined> {
    const list = this.#earlier[deployId];
    if (!list) return undefined;
    try {
      const deploy = await this.#folder.deployList(list);
      for (const content of Object.values(deploy.contents)) {
        if (!(await this.#folder.has(content))) return undefined;
      }
      return copiedDeploy(deployId, list, deploy.contents);
    } catch {
      return undefined;
    }
  }

  async #copyContents(
    deployId: string,
    files: readonly StoredFile[],
  ): Promise<Record<string, Content>> {
    const queue = new PQueue({ concurrency: filesAtOnce });
    const forms = oneForEach(files).flatMap((file) =>
      storedForms(file).map((form) => ({ file, form })),
    );
    try {
      return Object.fromEntries(
        await queue.addAll(
          forms.map(({ file, form }) => async () => {
            const content = await this.#copyForm(deployId, file, form.encoding);
            return [form.name, content] as const;
          }),
        ),
      );
    } finally {
      // Nothing writes any more when this is over.
      queue.clear();
      await queue.onIdle();
    }
  }

  async #copyForm(deployId: string, file: StoredFile, encoding: Encoding): Promise<Content> {
    const expected = { sha256: hexOf(file.hash), bytes: file.bytes };
    if (encoding === 'identity' && (await this.#folder.has(expected))) return expected;
    const content = await this.#folder.put(this.#files.read(deployId, file, encoding));
    this.newBytes += content.bytes;
    return content;
  }
}

const copiedDeploy = (
  id: string,
  list: Content,
  contents: DeployList['contents'],
): CopiedDeploy => ({ id, list, hashes: Object.values(contents).map(({ sha256 }) => sha256) });

const hexOf = (hash: string): string => Buffer.from(hash, 'base64url').toString('hex');
