import type { AuditEntry } from '../../../access/ports.ts';
import {
  auditAnchor,
  auditFilterForm,
  auditHref,
  readAuditFilter,
  searchOf,
  type Actors,
  type AuditFilter,
} from './audit-filter.ts';
import { actorName, auditWords, type Names } from './audit-words.ts';
import type { DashboardPorts } from '../frame/ports.ts';
import { html, type Html } from '../frame/html.ts';
import { exact, pager, facts } from '../frame/parts.ts';
import type { Visit } from '../frame/screen.ts';
import { table, type Column } from '../frame/table.ts';

const pageSize = 50;
/** Most removed people that the filter offers. */
const mostRemoved = 50;

type Ports = Pick<DashboardPorts, 'auditLog' | 'access' | 'sites' | 'domains'>;

/** What happened in the account, newest first, a page at a time; optionally filtered. */
export const auditSection = async (ports: Ports, { accountId, query }: Visit): Promise<Html> => {
  const filter = readAuditFilter(query);
  const [found, actors] = await Promise.all([
    ports.auditLog.list(accountId, pageSize + 1, searchOf(filter)),
    actorsIn(ports, accountId),
  ]);
  const entries = found.slice(0, pageSize);
  const names = await namesIn(ports, { accountId, ...actors }, entries);
  const last = found.length > pageSize ? entries.at(-1) : undefined;
  return html`<section class="card" id="${auditAnchor}">
    <div class="row between">
      <h2>Audit log</h2>
      ${auditFilterForm(filter, actors, names)}
    </div>
    ${
      entries.length === 0
        ? html`<p class="hint">${nothingIn(filter)}</p>`
        : table(entries, columns(names), { look: 'audit tops' })
    }
    ${pager({
      first: filter.before && auditHref({ ...filter, before: undefined }),
      next: last && auditHref({ ...filter, before: last }),
      of: 'entries',
    })}
  </section>`;
};

/** The names of everything that these entries mention; everything belongs to the account. */
const namesIn = async (
  { sites, domains }: Ports,
  { accountId, keys, people }: Actors & { readonly accountId: string },
  entries: readonly AuditEntry[],
): Promise<Names> => {
  const [projects, attached] = await Promise.all([
    sites.listProjects(accountId),
    Promise.all(withDomains(entries).map((projectId) => domains.listDomains(projectId))),
  ]);
  return {
    key: naming(keys.map(({ id, name }) => [id, name])),
    person: naming([
      ...toldPeople(entries),
      ...people.map(({ id, email }) => [id, email] as const),
    ]),
    project: naming(projects.map(({ id, name }) => [id, name])),
    domain: naming(attached.flat().map(({ id, host }) => [id, host])),
  };
};

/** Projects of events that name a domain by its id only. */
const withDomains = (entries: readonly AuditEntry[]): readonly string[] => {
  const nameless = entries.filter(({ details }) => 'domainId' in details && !('host' in details));
  return [...new Set(nameless.map(({ details }) => String(details['projectId'])))];
};

/** Names of removed people come from the events themselves. */
const toldPeople = (entries: readonly AuditEntry[]): readonly (readonly [string, string])[] =>
  entries.flatMap(({ details: { personId, email } }) =>
    personId === undefined || email === undefined
      ? []
      : [[String(personId), String(email)] as const],
  );

const naming = (pairs: readonly (readonly [id: string, name: string])[]) => {
  const names = new Map(pairs);
  return (id: string): string => names.get(id) ?? id;
};

const actorsIn = async ({ auditLog, access }: Ports, accountId: string): Promise<Actors> => {
  const [people, keys, removals] = await Promise.all([
    access.listPeople(accountId),
    access.listApiKeys(accountId),
    auditLog.list(accountId, mostRemoved, { kinds: ['person_removed'] }),
  ]);
  return { people, keys, removed: removals.map(({ details }) => String(details['email'])) };
};

const nothingIn = ({ actor, topic, before }: AuditFilter): string => {
  if (before) return 'There are no older entries.';
  return actor === undefined && topic === undefined
    ? 'No entries yet.'
    : 'No entries match this filter.';
};

const columns = (names: Names): readonly Column<AuditEntry>[] => [
  [
    'Time (UTC)',
    'text',
    ({ occurredAt }) =>
      html`<time datetime="${occurredAt.toISOString()}">${exact(occurredAt).replace(' UTC', '')}</time>`,
  ],
  ['Who', 'text', ({ actor }) => actorName(actor, names)],
  [
    'What',
    'name',
    (entry) => html`<details>
      <summary>${auditWords(entry, names) ?? html`<code>${entry.what}</code>`}</summary>
      ${facts([['Event', entry.what], ...Object.entries(entry.details)].map(([name, value]) => [name, html`<code>${value}</code>`]))}
    </details>`,
  ],
];
