import type { Person } from '../../../access/domain/person.ts';
import type { ListedKey, AuditEntry, AuditSearch } from '../../../access/ports.ts';
import { kindsOf, topicNames, topicOf, type Topic } from './audit-topics.ts';
import { actorName, type Names } from './audit-words.ts';
import { html, type Html } from '../frame/html.ts';
import { select } from '../frame/form-parts.ts';
import { queryText } from '../frame/query-text.ts';

const auditPath = '/dashboard/account';
export const auditAnchor = 'audit-log';

type AuditPosition = Pick<AuditEntry, 'id' | 'occurredAt'>;

/** Which entries are shown, from the query of the address. */
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

export const searchOf = ({ actor, topic, before }: AuditFilter): AuditSearch => ({
  actor,
  before,
  kinds: topic && kindsOf(topic),
});

export const auditHref = ({ actor, topic, before }: AuditFilter): string => {
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

/** The possible actors of an account. */
export interface Actors {
  readonly people: readonly Person[];
  /** E-mail addresses of people who were removed. */
  readonly removed: readonly string[];
  readonly keys: readonly ListedKey[];
}

/** A GET form, so that the filter is part of the address. */
export const auditFilterForm = ({ actor, topic }: AuditFilter, all: Actors, names: Names): Html => {
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
