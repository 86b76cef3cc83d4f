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

/** Deleted ones are there only for the methods that say so. A former address of a project names it too. */
export abstract class Projects {
  /**
   * Counts, decides and stores as one step, so only one rival gets the last place.
   * @param decide synchronous; learns how many projects the account has
   * @throws DomainError `slug_taken` (by any account, also as the former one of a project), `account_not_found`; whatever
   *   `decide` throws
   */
  abstract add(
    accountId: string,
    decide: (current: number) => Decision<Project, SitesEvent>,
  ): Promise<Project>;

  /** Of one account, oldest first. */
  abstract list(accountId: string): Promise<readonly Project[]>;

  /** As `list`, with their deploys: one query for all of them. */
  abstract listSites(accountId: string): Promise<readonly Site[]>;

  /** Of any account: callers that act for an account must compare `accountId`. */
  abstract find(slug: string): Promise<Site | undefined>;

  /**
   * Locks, decides, saves the site, its route and the events together. `decide` is synchronous: no I/O while
   * the row is held. The edges learn of a change of `servedDeployId` within a second.
   * @throws DomainError `project_not_found`
   */
  abstract change(key: ProjectKey, decide: (site: Site) => SiteDecision): Promise<Site>;

  /** As `change`, of a deleted one. @param decide also learns how many projects the account has in service */
  abstract restore(
    key: ProjectKey,
    decide: (site: Site, current: number) => Decision<Site, SitesEvent>,
  ): Promise<Site>;

  /** All of an account, deleted or not. */
  abstract listAll(accountId: string): Promise<readonly Project[]>;

  /** Of all accounts, those that were deleted by then, the oldest first. */
  abstract deletedBefore(before: Date, limit: number): Promise<readonly Project[]>;

  /**
   * Locks it and deletes it with all that belongs to it but files, together with the events; a project that is gone
   * already is no error. Its domains must be removed before.
   */
  abstract end(
    projectId: string,
    now: Date,
    decide: (site: Site) => readonly SitesEvent[],
  ): Promise<void>;

  /** When the first deleted project ends, or the first former address is free. */
  abstract firstEnd(): Promise<Date | undefined>;

  /** Whose project has the address, or had it before; deleted ones too. */
  abstract accountOf(slug: string): Promise<string | undefined>;

  /** Frees former addresses that lead nowhere from then on. @returns how many */
  abstract freeSlugs(now: Date, limit: number): Promise<number>;

  /**
   * Like `change`, for changes that add files: serialised per account, across its projects.
   * @param decide also receives how many bytes the account's other projects keep
   */
  abstract changeKept(
    key: ProjectKey,
    decide: (site: Site, elsewhere: number) => Decision<Site, SitesEvent>,
  ): Promise<Site>;

  /** How many bytes the deploys of an account keep, unpacked; deleted projects too. */
  abstract keptBytes(accountId: string): Promise<number>;

  /** How many deploys there are in each state, over all accounts, and how many bytes they keep, unpacked. */
  abstract countDeploys(): Promise<DeployCounts>;

  /** Projects with an upload that began before `before` and did not end, at most `limit`. */
  abstract withUploadsSince(before: Date, limit: number): Promise<readonly Project[]>;

  /** When the upload began that is under way for the longest. */
  abstract oldestUpload(): Promise<Date | undefined>;
}

/** One entry of an upload. Its content is read, or skipped, before the next entry is requested. */
export interface SourceEntry {
  /** As the upload has it, not validated. */
  readonly path: string;
  readonly kind: EntryKind;
  readonly content: AsyncIterable<Uint8Array>;
}

/**
 * A folder or an archive that is read from front to back, once. Reading it throws DomainError `archive_unreadable` for
 * a broken archive, `archive_unsupported` for an unsupported format or feature.
 */
export interface SiteSource {
  readonly entries: AsyncIterable<SourceEntry>;
  /** How many entries there are, where that is known beforehand. */
  readonly total: number | undefined;
}

export interface StoredFile {
  /** Where it is published, like `img/rex.jpg`. */
  readonly path: string;
  readonly bytes: number;
  /** SHA-256 of its content, base64url. */
  readonly hash: string;
  /** Smaller forms, prepared once: how many bytes each has. */
  readonly brotli: number | undefined;
  readonly gzip: number | undefined;
}

export type Encoding = 'identity' | 'br' | 'gzip';

/** A deploy while it is written. Nobody can read it before `commit`. */
export interface SiteDraft {
  /** @throws DomainError `storage_full`; whatever `content` throws */
  write(path: string, content: AsyncIterable<Uint8Array>): Promise<void>;
  /**
   * Prepares the smaller forms and makes the whole durable, then readable.
   * @param onProgress files prepared so far
   * @param wrapping what all paths begin with and is left out of them
   * @throws DomainError `storage_full`
   */
  commit(onProgress: (files: number) => void, wrapping?: string): Promise<void>;
}

/** One form of one file of a deploy, as another storage or a backup has it. */
export type ReadForm = (file: StoredFile, encoding: Encoding) => AsyncIterable<Uint8Array>;

/** The files of deploys. Fits a file system as well as an object store: a deploy is whole or absent. */
export abstract class SiteFiles {
  /** Removes leftovers of an earlier attempt with this id. @throws Unavailable */
  abstract begin(deployId: string): Promise<SiteDraft>;

  /**
   * Stores a deploy exactly as `list` and `read` gave it, with its smaller forms. Replaces what there is of it; after a
   * failure nothing of it is left.
   * @throws DomainError `storage_full`; Unavailable; whatever `read` throws
   */
  abstract putBack(deployId: string, files: readonly StoredFile[], read: ReadForm): Promise<void>;

  /** @returns undefined when there is no such deploy @throws Unavailable */
  abstract list(deployId: string): Promise<readonly StoredFile[] | undefined>;

  /**
   * The content of one stored file, in pieces of at most 64 KiB. Nothing is kept for a reader between two pieces, no
   * content, file or connection: readers who stop in the middle, thousands of them, cost nothing.
   * @param range first and last byte, both included
   * @throws Unavailable also while it is read
   */
  abstract read(
    deployId: string,
    file: StoredFile,
    encoding: Encoding,
    range?: { readonly first: number; readonly last: number },
  ): AsyncIterable<Uint8Array>;

  /** Includes half-written files; removing twice is no error. @throws Unavailable */
  abstract remove(deployId: string): Promise<void>;
}

export interface UploadProgress {
  readonly step: 'unpacking' | 'preparing' | 'storing';
  /** Entries or files done, of so many, where that is known. */
  readonly done: number;
  readonly total: number | undefined;
}

export type OnProgress = (progress: UploadProgress) => void;

/** Where the files of an upload go, and how much the account may still store. Plain values, for any thread. */
export interface DeployPlace {
  readonly deployId: string;
  readonly room: StorageRoom;
}

/** Unpacks uploads, whose size and content the sender controls. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- tests unpack what is in memory
export abstract class SiteUnpacking<Upload = string> {
  /**
   * Stores what `inspectSite` admits of an upload as the files of a deploy, with `SiteFiles.begin`. After a failure
   * nothing writes any more, but the files written so far remain.
   * @param upload where it lies on this machine: an archive, or a folder
   * @param onProgress receives progress worth showing, which never goes back
   * @throws DomainError with an `UploadProblem`, also when it takes too long or too much memory; Unavailable
   */
  abstract unpack(
    deploy: DeployPlace,
    upload: Upload,
    onProgress: OnProgress,
  ): Promise<SiteContents>;
}

/** What the plan of an account allows; another context keeps the plans. */
export abstract class Allowances {
  /** Of an account that does not exist: the smallest. */
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
