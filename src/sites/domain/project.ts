import type { Decision } from '../../kernel/decision.ts';
import { DomainError } from '../../kernel/domain-error.ts';
import { isName } from '../../kernel/text.ts';
import type { Allowance } from './allowance.ts';
import { isReservedSlug } from './reserved-slugs.ts';
import type { SitesErrorCode } from './sites-error.ts';
import type { SitesEvent } from './sites-event.ts';

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

/** @param current how many the account has @throws DomainError `project_limit_reached` */
export const admitProject = (
  { plan, projects }: Pick<Allowance, 'plan' | 'projects'>,
  current: number,
): void => {
  if (current < projects) return;
  throw new DomainError<SitesErrorCode>(
    'project_limit_reached',
    `The plan ${plan} has room for ${String(projects)} projects, and your account has ${String(current)}. ` +
      'Change the plan to start another one.',
  );
};

/** @throws DomainError `project_invalid`, `slug_reserved` */
export const createProject = (
  draft: Omit<Project, 'createdAt'>,
  now: Date,
): Decision<Project, SitesEvent> => {
  const name = draft.name.trim();
  if (!isName(name, longestName)) {
    throw new DomainError<SitesErrorCode>(
      'project_invalid',
      `A project needs a name of 1 to ${String(longestName)} characters, without control characters and direction marks.`,
    );
  }
  const { id: projectId, accountId, slug } = draft;
  if (isReservedSlug(slug)) {
    throw new DomainError<SitesErrorCode>(
      'slug_reserved',
      `The name "${slug}" is reserved: its address could be mistaken for one of this service. Choose another.`,
    );
  }
  return {
    state: { ...draft, name, createdAt: now },
    events: [{ type: 'project_created', accountId, occurredAt: now, projectId, slug }],
  };
};
