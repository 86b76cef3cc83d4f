import { openUpload } from '../../adapters/archives/open-upload.ts';
import { FileSystemSiteFiles } from '../../adapters/storage/file-system-site-files.ts';
import { answerTasks, throttle } from '../../adapters/threads/answer-tasks.ts';
import type { UnpackingTask } from '../../adapters/threads/threaded-unpacking.ts';
import type { SiteContents } from '../../sites/domain/site-contents.ts';
import type { UploadProgress } from '../../sites/ports.ts';
import { unpackSite } from '../../sites/use-cases/deploy-site.ts';

export interface UnpackingSetup {
  readonly folder: string;
}

answerTasks<UnpackingSetup, UnpackingTask, SiteContents, UploadProgress>(({ folder }) => {
  const files = new FileSystemSiteFiles(folder);
  return async ({ deploy: { deployId, room }, place }, tell) => {
    const source = await openUpload(place);
    return unpackSite(source, { draft: await files.begin(deployId), room }, throttle(tell));
  };
});
