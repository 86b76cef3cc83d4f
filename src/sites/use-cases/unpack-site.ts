import { inspectSite, type SiteContents, type SiteInspection } from '../domain/site-contents.ts';
import type { StorageRoom } from '../domain/storage-quota.ts';
import type { OnProgress, SiteDraft, SiteSource, SourceEntry } from '../ports.ts';

/**
 * Reads an upload from front to back, lets `inspectSite` judge it, and stores what it admits.
 * @throws DomainError with an `UploadProblem`; Unavailable
 */
export const unpackSite = async (
  source: SiteSource,
  { draft, room }: { readonly draft: SiteDraft; readonly room: StorageRoom },
  onProgress: OnProgress,
): Promise<SiteContents> => {
  const inspection = inspectSite(room);
  let done = 0;
  for await (const entry of source.entries) {
    const path = inspection.admit(entry.path, entry.kind);
    if (path !== undefined) await draft.write(path, counted(entry, inspection));
    done += 1;
    onProgress({ step: 'unpacking', done, total: source.total });
  }
  const contents = inspection.finish();
  const onPrepared = (done: number): void => {
    onProgress({ step: 'preparing', done, total: contents.files });
  };
  await draft.commit(onPrepared, inspection.wrapping());
  return contents;
};

/** Counts the real bytes and stops inside a file that is too large; sizes declared in an archive are not trusted. */
async function* counted({ content }: SourceEntry, inspection: SiteInspection) {
  for await (const chunk of content) {
    inspection.count(chunk.length);
    yield chunk;
  }
}
