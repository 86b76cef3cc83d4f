import type { Person } from '../../../access/domain/person.ts';
import type { ListedKey, AuditEntry, AuditSearch } from '../../../access/ports.ts';
import { dayMs } from '../../../kernel/durations.ts';
import { isDay } from '../../../kernel/text.ts';
import { allPages, type CsvColumn, csvPage, sendCsv } from '../frame/csv.ts';
import { field, select } from '../frame/form-parts.ts';
import { html, type Html } from '../frame/html.ts';
import { addressOf, csvLink, type ListAddress, listBar } from '../frame/list-parts.ts';
import {
  type Column,
  empty,
  exactTime,
  facts,
  head,
  listPart,
  naming,
  pager,
  table,
} from '../frame/parts.ts';
import { accountPath } from '../frame/paths.ts';
import type { Screen, Visit } from '../frame/screen.ts';
import type { DashboardPorts } from '../ports.ts';
import { accountTabs } from './tabs.ts';
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
/** The filter offers at most this many removed people. */
const mostRemoved = 50;

type Ports = Pick<DashboardPorts, 'auditLog' | 'access' | 'sites' | 'domains'>;

export const auditScreen = (ports: Ports): Screen => ({
  path: auditPath,
  section: 'account',
  live: false,
  show: async (visit) => {
    const filter = readAuditFilter(visit.query);
    return { title: 'Audit log', content: await auditPage(ports, visit, filter) };
  },
  others: [
    {
      method: 'GET',
      path: csvPath,
      answer: async ({ accountId, query }, ctx) => {
        const filter = readAuditFilter(query);
        const actors = await actorsIn(ports, accountId);
        const read = async (before: AuditPosition | undefined) => {
          const search = searchOf({ ...filter, before });
          const entries = await ports.auditLog.list(accountId, csvPage, search);
          const names = await namesIn(ports, { accountId, ...actors }, entries);
          return entries.map((entry) => ({ ...entry, names }));
        };
        sendCsv(ctx, { name: 'audit-log', columns: csvColumns }, allPages(read));
        return undefined;
      },
    },
  ],
});

const csvColumns: readonly CsvColumn<AuditEntry & { readonly names: Names }>[] = [
  ['time', ({ occurredAt }) => occurredAt.toISOString()],
  ['who', ({ actor, names }) => actorName(actor, names)],
  ['what', ({ names, ...entry }) => auditWords(entry, names)],
  ['event', ({ what }) => what],
  ['details', ({ details }) => JSON.stringify(details)],
];

const auditPage = async (
  ports: Ports,
  { accountId }: Visit,
  filter: AuditFilter,
): Promise<Html> => {
  const [found, actors] = await Promise.all([
    ports.auditLog.list(accountId, pageSize + 1, searchOf(filter)),
    actorsIn(ports, accountId),
  ]);
  const { shown: entries, last } = listPart(found, pageSize);
  const names = await namesIn(ports, { accountId, ...actors }, entries);
  const address = addressIn(filter);
  return html`
    ${head('Audit log', 'Everything that happened in this account: when, and who did it. Entries are kept forever.')}
    ${accountTabs('audit')}
    ${listBar(auditFilterForm(filter, actors, names), csvLink(addressOf({ ...address, path: csvPath })))}
    ${
      entries.length === 0
        ? empty(nothingIn(filter), html`<a href="${auditPath}">Show all entries</a>`)
        : table(entries, columns(names), { look: 'audit tops' })
    }
    ${pager({
      first: filter.before && addressOf(address),
      next: last && addressOf(address, { before: textOf(last) }),
      of: 'entries',
    })}`;
};

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

const withDomains = (entries: readonly AuditEntry[]): readonly string[] => {
  const nameless = entries.filter(({ details }) => 'domainId' in details && !('host' in details));
  return [...new Set(nameless.map(({ details }) => String(details['projectId'])))];
};

const toldPeople = (entries: readonly AuditEntry[]): readonly (readonly [string, string])[] =>
  entries.flatMap(({ details: { personId, email } }) =>
    personId === undefined || email === undefined
      ? []
      : [[String(personId), String(email)] as const],
  );

const actorsIn = async ({ auditLog, access }: Ports, accountId: string): Promise<Actors> => {
  const [people, keys, removals] = await Promise.all([
    access.listPeople(accountId),
    access.listApiKeys(accountId),
    auditLog.list(accountId, mostRemoved, { kinds: ['person_removed'] }),
  ]);
  return { people, keys, removed: removals.map(({ details }) => String(details['email'])) };
};

const nothingIn = ({ before, ...filter }: AuditFilter): string => {
  if (before) return 'There are no older entries';
  const isAll = Object.values(filter).every((one) => one === undefined);
  return isAll ? 'No entries yet' : 'No entries match this filter';
};

const columns = (names: Names): readonly Column<AuditEntry>[] => [
  ['Time', 'text', ({ occurredAt }) => exactTime(occurredAt)],
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

const auditPath = `${accountPath}/audit`;
const csvPath = `${auditPath}.csv`;

type AuditPosition = Pick<AuditEntry, 'id' | 'occurredAt'>;

export interface AuditFilter {
  readonly actor: string | undefined;
  readonly topic: Topic | undefined;
  /** Both days are in UTC and included: `2026-03-01`. */
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly before: AuditPosition | undefined;
}

export const readAuditFilter = (query: URLSearchParams): AuditFilter => {
  const who = query.get('who') ?? '';
  return {
    actor: who === '' ? undefined : who.slice(0, 300),
    topic: topicOf(query.get('what')),
    from: dayIn(query.get('from')),
    to: dayIn(query.get('to')),
    before: positionOf(query.get('before')),
  };
};

const dayIn = (text: string | null): string | undefined =>
  text !== null && isDay(text) ? text : undefined;

const searchOf = ({ actor, topic, from, to, before }: AuditFilter): AuditSearch => ({
  actor,
  before,
  kinds: topic && kindsOf(topic),
  since: from === undefined ? undefined : new Date(from),
  until: to === undefined ? undefined : new Date(Date.parse(to) + dayMs),
});

const addressIn = ({ actor, topic, from, to }: AuditFilter): ListAddress => ({
  path: auditPath,
  fields: { who: actor, what: topic, from, to },
});

/** Parses the cursor `<milliseconds>.<id>` of the last entry shown. @returns undefined if it is malformed */
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

const auditFilterForm = (
  { actor, topic, from, to }: AuditFilter,
  all: Actors,
  names: Names,
): Html => {
  const actors = new Set([...actorsOf(all), ...(actor === undefined ? [] : [actor])]);
  const who = [...actors].map((one) => [one, actorName(one, names)] as const);
  const what = Object.entries(topicNames);
  return html`<form action="${auditPath}" class="filter" aria-label="Filter">
    ${select({ label: 'Who', name: 'who', value: actor, options: [['', 'Anyone'], ...who] })}
    ${select({ label: 'What', name: 'what', value: topic, options: [['', 'Everything'], ...what] })}
    ${field({ label: 'From (UTC)', name: 'from', type: 'date', required: false, value: from ?? '' })}
    ${field({ label: 'To (UTC)', name: 'to', type: 'date', required: false, value: to ?? '' })}
    <button>Filter</button>
  </form>`;
};

const actorsOf = ({ people, removed, keys }: Actors): readonly string[] => [
  ...[...people.map(({ email }) => email), ...removed].map((email) => `person:${email}`),
  ...keys.map(({ id }) => `key:${id}`),
  'operator',
  'service',
];
