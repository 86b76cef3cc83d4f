import { isRestorable, restorableUntil } from '../../kernel/deletion.ts';
import { type Decision, DomainError } from '../../kernel/decision.ts';
import { longestSlug, type Project, projectName, refuseReserved } from './project.ts';
import type { Site } from './site.ts';
import type { SitesErrorCode } from './sites-error.ts';
import type { SitesEvent } from './sites-event.ts';

/** A former address of a project. It leads to the new one and is reserved meanwhile. */
export interface FormerSlug {
  readonly slug: string;
  readonly until: Date;
}

export interface SiteDecision extends Decision<Site, SitesEvent> {
  readonly former?: FormerSlug | undefined;
}

export const formerMs = 90 * 24 * 60 * 60_000;

/** Excludes consecutive hyphens, because `<slug>--<n>` is the host of a preview. */
const slugPattern = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** @throws DomainError `project_invalid`, `slug_invalid`, `slug_reserved` */
export const renameProject = (
  site: Site,
  wanted: { readonly name: string; readonly slug: string },
  now: Date,
): SiteDecision => {
  const { project } = site;
  const name = projectName(wanted.name);
  const slug = readSlug(wanted.slug, project.slug);
  const isMoved = slug !== project.slug;
  if (!isMoved && name === project.name) return { state: site, events: [] };
  const { id: projectId, accountId, slug: from } = project;
  const renamed = { projectId, accountId, occurredAt: now, name, slug };
  return {
    state: { ...site, project: { ...project, name, slug } },
    events: [{ type: 'project_renamed', ...renamed, ...(isMoved && { from }) }],
    former: isMoved ? { slug: from, until: new Date(now.getTime() + formerMs) } : undefined,
  };
};

/** @param present the current slug, which is always allowed @throws DomainError `slug_invalid`, `slug_reserved` */
export const readSlug = (raw: string, present?: string): string => {
  const slug = raw.trim().toLowerCase();
  if (slug === present) return slug;
  if (slug.length <= longestSlug && slugPattern.test(slug)) {
    refuseReserved(slug);
    return slug;
  }
  throw new DomainError<SitesErrorCode>(
    'slug_invalid',
    `An address has 1 to ${String(longestSlug)} lower-case letters a to z, digits and single hyphens in between.`,
  );
};

/** Takes the project out of service at once and gives up its uploads. */
export const deleteProject = (site: Site, now: Date): SiteDecision => {
  const { project, deploys } = site;
  const uploading = deploys.filter(({ state }) => state === 'uploading');
  const { name } = project;
  const until = restorableUntil(now).toISOString();
  return {
    state: {
      ...site,
      project: { ...project, deletedAt: now },
      deploys: deploys.filter((deploy) => !uploading.includes(deploy)),
    },
    events: [
      { type: 'project_deleted', ...about(project, now), name, until },
      ...discarding(site, uploading, now),
    ],
  };
};

/** @throws DomainError `project_not_restorable` */
export const restoreProject = (site: Site, now: Date): SiteDecision => {
  const { project } = site;
  if (!isRestorable(project, now)) {
    const message = `${project.name} was deleted more than 7 days ago and cannot be restored.`;
    throw new DomainError<SitesErrorCode>('project_not_restorable', message);
  }
  return {
    state: { ...site, project: { ...project, deletedAt: undefined } },
    events: [{ type: 'project_restored', ...about(project, now) }],
  };
};

/** Events of the project's final end. The files of its deploys are no longer needed. */
export const endProject = (site: Site, now: Date): readonly SitesEvent[] => [
  { type: 'project_ended', ...about(site.project, now) },
  ...discarding(site, site.deploys, now),
];

const about = ({ id: projectId, accountId, slug }: Project, now: Date) => ({
  projectId,
  accountId,
  slug,
  occurredAt: now,
});

const discarding = ({ project }: Site, deploys: Site['deploys'], now: Date) => {
  const { id: projectId, accountId } = project;
  return deploys.map(({ id: deployId }) => {
    return { type: 'deploy_discarded', projectId, accountId, occurredAt: now, deployId } as const;
  });
};

export const lastDeletedFirst = (projects: readonly Project[]): readonly Project[] =>
  projects
    .filter(({ deletedAt }) => deletedAt !== undefined)
    .toSorted((one, other) => Number(other.deletedAt) - Number(one.deletedAt));
