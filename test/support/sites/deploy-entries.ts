import type { Container } from 'inversify';
import { DirectUnpacking } from './direct-unpacking.ts';
import { Clock, Ids } from '../../../src/kernel/ports.ts';
import type { Deploy } from '../../../src/sites/domain/site.ts';
import type { Project } from '../../../src/sites/domain/project.ts';
import {
  Allowances,
  Projects,
  SiteFiles,
  type SiteSource,
  type SourceEntry,
} from '../../../src/sites/ports.ts';
import { deploySite } from '../../../src/sites/use-cases/deploy-site.ts';
import { sourceOf } from './sites.ts';

export const deployEntries = (
  container: Container,
  project: Project,
  ...entries: readonly SourceEntry[]
): Promise<Deploy> => {
  const files = container.get(SiteFiles);
  const unpacking = new DirectUnpacking(files, (source: SiteSource) => Promise.resolve(source));
  const [projects, allowances, clock, ids] = [
    container.get(Projects),
    container.get(Allowances),
    container.get(Clock),
    container.get(Ids),
  ];
  return deploySite({ projects, files, unpacking, allowances, clock, ids })(project, {
    upload: sourceOf(...entries),
    madeBy: 'operator',
    message: undefined,
  });
};
