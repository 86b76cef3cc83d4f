import type { Decision } from '../../kernel/decision.ts';
import { DomainError } from '../../kernel/domain-error.ts';
import { isLine } from '../../kernel/text.ts';
import type { SitesErrorCode } from './sites-error.ts';
import type { ProjectCreated } from './sites-event.ts';

/** A site to publish. */
export interface Project {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  /** One DNS label, unique over all accounts: the site's name below the platform host. */
  readonly slug: string;
  readonly createdAt: Date;
}

/** Leaves room in a DNS label (63) for the number that makes a slug unique. */
const longestSlug = 48;
/** Code points. */
const longestName = 100;

/** "Zoë's Birds!" becomes `zoes-birds`; a name without Latin letters or digits becomes `site`. */
export const slugOf = (name: string): string =>
  name
    .trim()
    // A longer name is refused anyway, and long runs of accents take long to normalise.
    .slice(0, 2 * longestName)
    .normalize('NFKD')
    .replace(/[\p{M}'’]/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, longestSlug)
    .replace(/^-|-$/g, '') || 'site';

/** @throws DomainError `project_invalid` */
export const createProject = (
  draft: Omit<Project, 'createdAt'>,
  now: Date,
): Decision<Project, ProjectCreated> => {
  const name = draft.name.trim();
  if (!isLine(name, longestName)) {
    throw new DomainError<SitesErrorCode>(
      'project_invalid',
      `A project needs a name of 1 to ${String(longestName)} characters without control characters.`,
    );
  }
  const { id: projectId, accountId, slug } = draft;
  return {
    state: { ...draft, name, createdAt: now },
    events: [{ type: 'project_created', accountId, occurredAt: now, projectId, slug }],
  };
};
