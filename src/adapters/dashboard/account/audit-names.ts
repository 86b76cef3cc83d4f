import type { AuditEntry } from '../../../access/ports.ts';
import type { Actors } from './audit-filter.ts';
import type { Names } from './audit-words.ts';
import type { DashboardPorts } from '../frame/ports.ts';

/** The names of everything that these entries mention; everything belongs to the account. */
export const namesIn = async (
  { sites, domains }: Pick<DashboardPorts, 'sites' | 'domains'>,
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
