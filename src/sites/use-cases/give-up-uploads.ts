import { longestUploadMs } from '../domain/deploy.ts';
import { giveUpUploads } from '../domain/site.ts';
import type { SitesPorts } from '../ports.ts';

const batch = 100;

/** Fails the uploads that were cut off, of all projects. @returns how many projects had one */
export const giveUpCutOffUploads =
  ({ projects, clock }: Pick<SitesPorts, 'projects' | 'clock'>) =>
  async (): Promise<number> => {
    const now = clock.now();
    const before = new Date(now.getTime() - longestUploadMs);
    const affected = await projects.withUploadsSince(before, batch);
    for (const project of affected)
      await projects.change(project, (site) => giveUpUploads(site, now));
    return affected.length;
  };
