import { RouteTableKey } from '../../../src/app/keys.ts';
import { baseOf, isWildcard } from '../../../src/domains/domain/names/hostname.ts';
import { workerNames } from '../fleet.ts';
import { dayMs, hourMs, secondMs } from '../world/durations.ts';
import { service } from '../world/world.ts';
import { type Facts, type Law, type Seen, type Stored, inText, toleratedSkewMs } from './law.ts';
import { ownerless } from './rows.ts';

interface Project {
  readonly id: string;
  readonly slug: string;
  readonly deletedAt: number | null;
  readonly isOfDeletedAccount: number;
}

const projects = `
  select p.id, p.slug, coalesce(p.deleted_at, a.deleted_at) as deletedAt, p.deleted_at is null as isOfDeletedAccount
  from projects p join accounts a on a.id = p.account_id`;

const deleted = `${projects} where p.deleted_at is not null or a.deleted_at is not null`;

export const deletedProjects = (stored: Stored): readonly string[] =>
  stored.rows<Project>(deleted).map(({ id }) => id);

/** Signals are at most a second late. */
const graceMs = 2 * secondMs;

/** A worker takes the projects of a deleted account out one by one. Deliveries wait for at most an hour. */
const accountGraceMs = 2 * hourMs;

export const deletedIsOut = (): Law => {
  const pending: { readonly project: Project; readonly at: number }[] = [];
  const known = new Set<string>();
  return {
    name: 'Nothing of a deleted project is served',
    tables: ['projects'],
    afterCommit: ({ stored, time }) => {
      const out = stored.rows<Project>(deleted).filter((one) => one.isOfDeletedAccount === 0);
      for (const project of out) {
        if (!known.has(project.id)) pending.push({ project, at: time.now });
      }
      known.clear();
      for (const { id } of out) known.add(id);
      return undefined;
    },
    afterStep: (seen) => {
      const [first] = pending;
      if (!first || seen.time.now < first.at + graceMs) return undefined;
      pending.shift();
      return servedStill(first.project, first.at, seen);
    },
    eachHour: (seen) => {
      for (const project of seen.stored.rows<Project>(deleted)) {
        const since = seen.past.outSince(project.id) ?? seen.time.now;
        const needsWorker = project.isOfDeletedAccount === 1;
        const ms = needsWorker ? accountGraceMs : graceMs;
        if (seen.time.now < since + ms || (needsWorker && !isWorkerUp(seen, ms))) continue;
        const facts = servedStill(project, since, seen);
        if (facts) return facts;
      }
      return undefined;
    },
  };
};

/**
 * @param at when the project was deleted. An edge that has just started is skipped, because it still reads the routes
 */
const servedStill = (
  { id, slug }: Project,
  at: number,
  { fleet, past, stored, time }: Seen,
): Facts | undefined => {
  const routes = fleet.get('edge')?.container.get(RouteTableKey);
  const up = past.upSince('edge');
  if (!routes || up === undefined || up > time.now - graceMs) return undefined;
  if (past.outSince(id) === undefined) return undefined;
  const hosts = stored.rows<{ readonly host: string }>(
    'select host from domains where project_id = ?',
    id,
  );
  for (const host of [`${slug}.${service.platformHost}`, ...hosts.map((one) => one.host)]) {
    const route = routes.find(isWildcard(host) ? `some.${baseOf(host)}` : host);
    if (route?.projectId === id) return { host, project: id, 'deleted at': inText(at) };
  }
  return undefined;
};

const isWorkerUp = ({ past, time }: Seen, ms: number): boolean =>
  workerNames.some((name) => {
    const since = past.upSince(name);
    return since !== undefined && since < time.now - ms;
  });

const restorableMs = 7 * dayMs;

/** Allows an hour for clocks that differ. A job then looks within ten minutes, and may sleep for six hours. */
const endedWithinMs = restorableMs + hourMs + 8 * hourMs;

const unremoved = `
  select e.details ->> '$.host' as host from events e where e.type = 'domain_added' and e.details ->> '$.projectId' = ?
    and not exists (select 1 from events r where r.type = 'domain_removed' and r.account_id = e.account_id
      and r.details ->> '$.domainId' = e.details ->> '$.domainId') limit 1`;

/** A rival may prove the name until the end, and an operator may remove it. */
const otherwise = `
  select details ->> '$.host' as host, details ->> '$.reason' as reason from events where type = 'domain_removed'
    and details ->> '$.projectId' = ? and details ->> '$.reason' not in ('project_deleted', 'contested')
    and actor not like 'person:%' and actor <> 'operator'
    and occurred_at > ? limit 1`;

export const endsAreWhole = (): Law => {
  let before: readonly Project[] = [];
  return {
    name: 'A deleted project or account is removed after 7 days with all its rows, and its domains are removed for that reason',
    tables: ['projects', 'accounts'],
    afterCommit: (seen) => {
      const was = before;
      before = seen.stored.rows<Project>(projects);
      const ids = new Set(before.map(({ id }) => id));
      for (const gone of was.filter(({ id }) => !ids.has(id))) {
        const facts = wronglyEnded(gone, seen);
        if (facts) return facts;
      }
      return was.length > before.length ? ownerless(seen) : undefined;
    },
    eachHour: (seen) => {
      if (!isWorkerUp(seen, 8 * hourMs)) return undefined;
      const old = Math.floor(seen.time.now) - endedWithinMs - toleratedSkewMs;
      const late = `select slug as project, deleted_at as deletedAt from projects where deleted_at < ?
        union all select name, deleted_at from accounts where deleted_at < ? limit 1`;
      return seen.stored.first<Facts>(late, old, old);
    },
  };
};

const wronglyEnded = (
  { id, slug: project, deletedAt }: Project,
  { stored, time }: Seen,
): Facts | undefined => {
  if (deletedAt === null) return { project, 'was deleted': false };
  if (time.now - deletedAt < restorableMs - 2 * toleratedSkewMs)
    return { project, 'deleted at': inText(deletedAt), why: 'it ended too soon' };
  const left = stored.first<Facts>(unremoved, id);
  if (left) return { project, ...left, why: 'nobody was told that its domain is removed' };
  const other = stored.first<Facts>(otherwise, id, deletedAt + 2 * toleratedSkewMs);
  return other && { project, ...other };
};
