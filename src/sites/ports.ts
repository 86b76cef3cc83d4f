import type { Clock, Ids } from '../kernel/ports.ts';
import type { Decision } from '../kernel/decision.ts';
import type { StorageRoom } from './domain/storage-quota.ts';
import type { Allowance, Project } from './domain/project.ts';
import type { SiteDecision } from './domain/project-life.ts';
import type { DeployState, Site } from './domain/site.ts';
import type { EntryKind, SiteContents } from './domain/site-contents.ts';
import type { SitesEvent } from './domain/sites-event.ts';

export interface DeployCounts {
  readonly byState: Readonly<Record<DeployState, number>>;
  readonly keptBytes: number;
}

export interface ProjectKey {
  readonly accountId: string;
  readonly slug: string;
}

/**
 * The projects of all accounts. Only methods that mention deleted projects return them. A former address also finds its
 * project.
 */
export abstract class Projects {
  /**
   * Counts, decides and saves in one step, so only one rival gets the last place.
   * @param decide synchronous; gets the account's number of projects
   * @throws DomainError `slug_taken` (by any account, also as a former slug), `account_not_found`; whatever `decide`
   * throws
   */
  abstract add(
    accountId: string,
    decide: (current: number) => Decision<Project, SitesEvent>,
  ): Promise<Project>;

  /** Lists the projects of one account, the oldest first. */
  abstract list(accountId: string): Promise<readonly Project[]>;

  /** Like `list`, with the deploys of each project, in one query. */
  abstract listSites(accountId: string): Promise<readonly Site[]>;

  /** Finds a project of any account, so callers that act for an account must compare `accountId`. */
  abstract find(slug: string): Promise<Site | undefined>;

  /**
   * Locks, decides, and saves the site, its route and the events together. `decide` is synchronous: no I/O while the
   * row is held. The edges learn of a change of `servedDeployId` within a second.
   * @throws DomainError `project_not_found`
   */
  abstract change(key: ProjectKey, decide: (site: Site) => SiteDecision): Promise<Site>;

  /** Like `change`, for a deleted project. @param decide also gets the account's number of projects in service */
  abstract restore(
    key: ProjectKey,
    decide: (site: Site, current: number) => Decision<Site, SitesEvent>,
  ): Promise<Site>;

  /** Lists all projects of an account, including deleted ones. */
  abstract listAll(accountId: string): Promise<readonly Project[]>;

  /** Lists projects of all accounts that were deleted at or before `before`, the oldest first. */
  abstract deletedBefore(before: Date, limit: number): Promise<readonly Project[]>;

  /**
   * Locks the project, and deletes it and its data, except files, together with saving the events. Deleting a missing
   * project does nothing. The project's domains must be removed before.
   */
  abstract end(
    projectId: string,
    now: Date,
    decide: (site: Site) => readonly SitesEvent[],
  ): Promise<void>;

  /** When the first deleted project may be ended, or the first former address becomes free. */
  abstract firstEnd(): Promise<Date | undefined>;

  /** The account whose project has or had the address. Deleted projects count too. */
  abstract accountOf(slug: string): Promise<string | undefined>;

  /** Frees former addresses whose time is over. @returns how many */
  abstract freeSlugs(now: Date, limit: number): Promise<number>;

  /**
   * Like `change`, for changes that add files. Such changes run one at a time per account.
   * @param decide also gets the number of bytes that the account's other projects store
   */
  abstract changeKept(
    key: ProjectKey,
    decide: (site: Site, elsewhere: number) => Decision<Site, SitesEvent>,
  ): Promise<Site>;

  /** The bytes that an account's deploys store, unpacked, including deleted projects. */
  abstract keptBytes(accountId: string): Promise<number>;

  /** The number of deploys in each state over all accounts, and the bytes that they store, unpacked. */
  abstract countDeploys(): Promise<DeployCounts>;

  /** Lists at most `limit` projects with an unfinished upload that began before `before`. */
  abstract withUploadsSince(before: Date, limit: number): Promise<readonly Project[]>;

  /** When the oldest current upload began. */
  abstract oldestUpload(): Promise<Date | undefined>;
}

/** One entry of an upload. Its content must be read or skipped before the next entry is requested. */
export interface SourceEntry {
  /** As in the upload, not validated. */
  readonly path: string;
  readonly kind: EntryKind;
  readonly content: AsyncIterable<Uint8Array>;
}

/**
 * A folder or an archive that is read once, from front to back. Reading throws DomainError `archive_unreadable` for a
 * broken archive, and `archive_unsupported` for an unsupported format or feature.
 */
export interface SiteSource {
  readonly entries: AsyncIterable<SourceEntry>;
  /** The number of entries, if it is known beforehand. */
  readonly total: number | undefined;
}

export interface StoredFile {
  /** The path where it is published, such as `img/rex.jpg`. */
  readonly path: string;
  readonly bytes: number;
  /** SHA-256 of the content, in base64url. */
  readonly hash: string;
  /** The sizes in bytes of the compressed forms, which are prepared once. */
  readonly brotli: number | undefined;
  readonly gzip: number | undefined;
}

export type Encoding = 'identity' | 'br' | 'gzip';

/** A deploy that is being written. Nobody can read it before `commit`. */
export interface SiteDraft {
  /** @throws DomainError `storage_full`; whatever `content` throws */
  write(path: string, content: AsyncIterable<Uint8Array>): Promise<void>;
  /**
   * Prepares the compressed forms, makes the deploy durable, and then makes it readable.
   * @param onProgress gets the number of prepared files
   * @param wrapping the common start of all paths, which is removed
   * @throws DomainError `storage_full`
   */
  commit(onProgress: (files: number) => void, wrapping?: string): Promise<void>;
}

/** Reads one form of one file of a deploy from another storage or a backup. */
export type ReadForm = (file: StoredFile, encoding: Encoding) => AsyncIterable<Uint8Array>;

/** The files of deploys, in a file system or an object store. A deploy is complete or absent. */
export abstract class SiteFiles {
  /** Removes leftovers of an earlier attempt with this id. @throws Unavailable */
  abstract begin(deployId: string): Promise<SiteDraft>;

  /**
   * Stores a deploy exactly as `list` and `read` returned it, with its compressed forms. Replaces an existing copy;
   * after a failure nothing is left of either.
   * @throws DomainError `storage_full`; Unavailable; whatever `read` throws
   */
  abstract putBack(deployId: string, files: readonly StoredFile[], read: ReadForm): Promise<void>;

  /** @returns undefined if the deploy does not exist @throws Unavailable */
  abstract list(deployId: string): Promise<readonly StoredFile[] | undefined>;

  /**
   * Reads one stored file in pieces of at most 64 KiB. No content, file or connection is held for a reader between two
   * pieces, so thousands of stalled readers cost nothing.
   * @param range first and last byte, both included
   * @throws Unavailable also while it is read
   */
  abstract read(
    deployId: string,
    file: StoredFile,
    encoding: Encoding,
    range?: { readonly first: number; readonly last: number },
  ): AsyncIterable<Uint8Array>;

  /** Removes a deploy, including half-written files. May be repeated. @throws Unavailable */
  abstract remove(deployId: string): Promise<void>;
}

export interface UploadProgress {
  readonly step: 'unpacking' | 'preparing' | 'storing';
  /** Number of finished entries or files; `total` is set if it is known. */
  readonly done: number;
  readonly total: number | undefined;
}

export type OnProgress = (progress: UploadProgress) => void;

/**
 * The destination of an upload's files, and how much the account may still store. Plain values, so that any
 * thread can use them.
 */
export interface DeployPlace {
  readonly deployId: string;
  readonly room: StorageRoom;
}

/** Unpacks uploads, whose size and content the sender controls. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- tests unpack what is in memory
export abstract class SiteUnpacking<Upload = string> {
  /**
   * Stores the files of an upload that `SiteInspection` admits as a deploy, with `SiteFiles.begin`. After a failure
   * writing has stopped, but files written so far remain.
   * @param upload its path on this machine, of an archive or a folder
   * @param onProgress gets progress worth showing, which never goes back
   * @throws DomainError with an `UploadProblem`, also if it takes too much time or memory; Unavailable
   */
  abstract unpack(
    deploy: DeployPlace,
    upload: Upload,
    onProgress: OnProgress,
  ): Promise<SiteContents>;
}

/** What an account's plan allows. Another context owns the plans. */
export abstract class Allowances {
  /** Returns the smallest allowance for an unknown account. */
  abstract of(accountId: string): Promise<Allowance>;
}

export interface SitesPorts {
  readonly projects: Projects;
  readonly allowances: Allowances;
  readonly files: SiteFiles;
  readonly unpacking: SiteUnpacking;
  readonly clock: Clock;
  readonly ids: Ids;
}
