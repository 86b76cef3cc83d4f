import { longestUploadMs } from '../domain/deploy.ts';
import { giveUpUploads } from '../domain/site.ts';
import type { SitesPorts } from '../ports.ts';

const batch = 100;

/** From when on an upload counts as cut off: one that is under way, or the first one that may begin now. */
export const uploadsCutOffAt =
  ({ projects, clock }: Pick<SitesPorts, 'projects' | 'clock'>) =>
  async (): Promise<Date> => {
    const begunAt = (await projects.oldestUpload()) ?? clock.now();
    return new Date(begunAt.getTime() + longestUploadMs + 1);
  };

/** Fails the uploads that were cut off, of all projects. @returns how many projects had one */
export const giveUpCutOffUploads =
  ({ projects, clock }: Pick<SitesPorts, 'projects' | 'clock'>) =>
  async (isStopping: () => boolean = () => false): Promise<number> => {
    const now = clock.now();
    const before = new Date(now.getTime() - longestUploadMs);
    let affected = 0;
    for (const project of await projects.withUploadsSince(before, batch)) {
      if (isStopping()) break;
      await projects.change(project, (site) => giveUpUploads(site, now));
      affected += 1;
    }
    return affected;
  };
