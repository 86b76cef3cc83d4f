import { failed, ok, type Finding } from '../doctor/finding.ts';
import type { OnProgress } from './copy-together.ts';
import { DamagedContent } from './content-of.ts';
import type { BackupFolder } from './folder.ts';
import type { Content, DeployList, Manifest } from './manifest.ts';

/** More would hide the first ones. */
const mostShown = 20;
const advice =
  'Delete the named file, if it is there, and back up again into this folder: the backup copies it anew.';

/** Reads every content of the deploys and other files, and compares it with its hash. */
export const checkContents = async (
  folder: BackupFolder,
  { deploys, files, lost }: Manifest,
  onProgress: OnProgress,
): Promise<readonly Finding[]> => {
  const reader = new CheckingReader(folder);
  const problems: string[] = [];
  const ids = Object.keys(deploys);
  for (const [at, id] of ids.entries()) {
    onProgress('checking deploys', at, ids.length);
    problems.push(...(await problemsOf(id, deploys[id], reader)));
  }
  for (const [name, content] of Object.entries(files)) {
    const problem = await reader.problemOf(content);
    if (problem !== undefined) problems.push(`${name}: ${problem}.`);
  }
  const gone = Object.entries(lost).map(([id, why]) =>
    failed(
      `Deploy ${id} is in the database, but ${why}: so it was when the backup was made.`,
      'Publish that site again, and delete this deploy.',
    ),
  );
  const found = problems.slice(0, mostShown).map((seen) => failed(seen, advice));
  const more = problems.length - found.length;
  return [
    ...(found.length === 0
      ? [ok(`The files of all deploys are whole (${String(ids.length)}).`)]
      : found),
    ...(more > 0 ? [failed(`${String(more)} more files are missing or damaged.`, advice)] : []),
    ...gone,
  ];
};

const problemsOf = async (
  id: string,
  list: Content | undefined,
  reader: CheckingReader,
): Promise<readonly string[]> => {
  if (!list) return [];
  const deploy = await reader.list(list);
  if (typeof deploy === 'string') return [`Deploy ${id}: the list of its files: ${deploy}.`];
  const problems: string[] = [];
  for (const [name, content] of Object.entries(deploy.contents)) {
    const problem = await reader.problemOf(content);
    if (problem !== undefined) problems.push(`Deploy ${id}: ${pathOf(name, deploy)}: ${problem}.`);
  }
  return problems;
};

/** Compressed forms are named after the content. */
const pathOf = (name: string, { files }: DeployList): string =>
  files.find(({ hash }) => name.startsWith(hash))?.path ?? name;

/** Reads each content once. */
class CheckingReader {
  readonly #folder: BackupFolder;
  readonly #known = new Map<string, string | undefined>();

  constructor(folder: BackupFolder) {
    this.#folder = folder;
  }

  /** @returns what is wrong with it, if anything is */
  async list(content: Content): Promise<DeployList | string> {
    try {
      return await this.#folder.deployList(content);
    } catch (error) {
      return this.#inWords(error);
    }
  }

  async problemOf(content: Content): Promise<string | undefined> {
    const { sha256 } = content;
    if (!this.#known.has(sha256)) this.#known.set(sha256, await this.#look(content));
    return this.#known.get(sha256);
  }

  async #look(content: Content): Promise<string | undefined> {
    try {
      await this.#folder.verify(content);
      return undefined;
    } catch (error) {
      return this.#inWords(error);
    }
  }

  #inWords(error: unknown): string {
    if (!(error instanceof DamagedContent)) throw error;
    return error.message.replace(`${this.#folder.path}/`, '');
  }
}
