import { openUpload } from '../../adapters/archives/open-upload.ts';
import { FileSystemSiteFiles } from '../../adapters/storage/file-system-site-files.ts';
import { answerTask, throttle } from '../../adapters/threads/answer-task.ts';
import type { UnpackingTask } from '../../adapters/threads/threaded-unpacking.ts';
import type { SiteContents } from '../../sites/domain/site-contents.ts';
import type { UploadProgress } from '../../sites/ports.ts';
import { unpackSite } from '../../sites/use-cases/deploy-site.ts';

await answerTask<UnpackingTask, SiteContents, UploadProgress>(
  async ({ folder, deploy: { deployId, room }, place }, tell) => {
    const files = new FileSystemSiteFiles(folder);
    const source = await openUpload(place);
    return unpackSite(source, { draft: await files.begin(deployId), room }, throttle(tell));
  },
);
