import type { Person } from '../../../access/domain/person.ts';
import type { ListedKey, AuditEntry, AuditSearch } from '../../../access/ports.ts';
import { select } from '../frame/form-parts.ts';
import { html, type Html } from '../frame/html.ts';
import { type Column, exact, facts, listPart, pager, table } from '../frame/parts.ts';
import { queryText } from '../frame/paths.ts';
import type { Visit } from '../frame/screen.ts';
import type { DashboardPorts } from '../ports.ts';
import {
  actorName,
  auditWords,
  kindsOf,
  type Names,
  type Topic,
  topicNames,
  topicOf,
} from './audit-words.ts';

const pageSize = 50;
/** Most removed people that the filter offers. */
const mostRemoved = 50;

type Ports = Pick<DashboardPorts, 'auditLog' | 'access' | 'sites' | 'domains'>;

export const auditSection = async (ports: Ports, { accountId, query }: Visit): Promise<Html> => {
  const filter = readAuditFilter(query);
  const [found, actors] = await Promise.all([
    ports.auditLog.list(accountId, pageSize + 1, searchOf(filter)),
    actorsIn(ports, accountId),
  ]);
  const { shown: entries, last } = listPart(found, pageSize);
  const names = await namesIn(ports, { accountId, ...actors }, entries);
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

const auditPath = '/dashboard/account';
const auditAnchor = 'audit-log';

type AuditPosition = Pick<AuditEntry, 'id' | 'occurredAt'>;

export interface AuditFilter {
  readonly actor: string | undefined;
  readonly topic: Topic | undefined;
  readonly before: AuditPosition | undefined;
}

/** Ignores invalid parameters. */
export const readAuditFilter = (query: URLSearchParams): AuditFilter => {
  const who = query.get('who') ?? '';
  return {
    actor: who === '' ? undefined : who.slice(0, 300),
    topic: topicOf(query.get('what')),
    before: positionOf(query.get('before')),
  };
};

const searchOf = ({ actor, topic, before }: AuditFilter): AuditSearch => ({
  actor,
  before,
  kinds: topic && kindsOf(topic),
});

const auditHref = ({ actor, topic, before }: AuditFilter): string => {
  const fields = { who: actor, what: topic, before: before && textOf(before) };
  return `${auditPath}${queryText(fields)}#${auditAnchor}`;
};

/** Of the query: `<milliseconds>.<id>` of the last entry that was shown. @returns undefined for anything else */
const positionOf = (text: string | null): AuditPosition | undefined => {
  const [, milliseconds, id] = /^(\d{1,15})\.([\w-]{1,64})$/.exec(text ?? '') ?? [];
  if (milliseconds === undefined || id === undefined) return undefined;
  return { id, occurredAt: new Date(Number(milliseconds)) };
};

const textOf = ({ id, occurredAt }: AuditPosition): string => `${occurredAt.getTime()}.${id}`;

interface Actors {
  readonly people: readonly Person[];
  readonly removed: readonly string[];
  readonly keys: readonly ListedKey[];
}

/** A GET form, so that the filter is part of the address. */
const auditFilterForm = ({ actor, topic }: AuditFilter, all: Actors, names: Names): Html => {
  const actors = new Set([...actorsOf(all), ...(actor === undefined ? [] : [actor])]);
  const who = [...actors].map((one) => [one, actorName(one, names)] as const);
  const what = Object.entries(topicNames);
  return html`<form action="${auditPath}#${auditAnchor}" class="filter">
    ${select({ label: 'Who', name: 'who', value: actor, options: [['', 'Anyone'], ...who] })}
    ${select({ label: 'What', name: 'what', value: topic, options: [['', 'Everything'], ...what] })}
    <button>Filter</button>
  </form>`;
};

const actorsOf = ({ people, removed, keys }: Actors): readonly string[] => [
  ...[...people.map(({ email }) => email), ...removed].map((email) => `person:${email}`),
  ...keys.map(({ id }) => `key:${id}`),
  'operator',
  'service',
];
