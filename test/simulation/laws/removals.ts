import { RouteTableKey } from '../../../src/app/keys.ts';
import { baseOf, isWildcard, namesFor } from '../../../src/domains/domain/names/hostname.ts';
import { inText, type Facts, type Law, type Seen } from './law.ts';
import { secondMs } from '../world/durations.ts';

interface Removed {
  readonly id: string;
  readonly host: string;
  readonly project_id: string;
}

/** Signals are at most a second late here, also while they are lost. */
const graceMs = 2 * secondMs;

/** What is removed at a commit is looked for in the memory of edges soon after it. */
export const removedIsGone = (): Law => {
  const known = new Set<string>();
  const pending: { readonly domain: Removed; readonly at: number }[] = [];
  return {
    name: 'Nothing is served two seconds after its removal',
    tables: ['domains'],
    afterCommit: ({ stored, time }: Seen) => {
      const removed = `select id, host, project_id from domains where state = 'removed'`;
      for (const domain of stored.rows<Removed>(removed)) {
        if (known.has(domain.id)) continue;
        known.add(domain.id);
        pending.push({ domain, at: time.now });
      }
      return undefined;
    },
    afterStep: (seen: Seen) => {
      const [first] = pending;
      if (!first || seen.time.now < first.at + graceMs) return undefined;
      pending.shift();
      return servedStill(first.domain, first.at, seen);
    },
  };
};

const servedStill = (
  { host, project_id: project }: Removed,
  at: number,
  { fleet, past, stored }: Seen,
): Facts | undefined => {
  const edge = fleet.get('edge');
  const since = past.upSince('edge');
  if (!edge || since === undefined || since > at) return undefined;
  const visited = isWildcard(host) ? `some.${baseOf(host)}` : host;
  const route = edge.container.get(RouteTableKey).find(visited);
  if (route?.projectId !== project) return undefined;
  const names = [...namesFor(visited), host];
  const others = `select 1 from domains where project_id = ? and state <> 'removed' and host in (?, ?, ?)`;
  if (stored.has(others, project, host, names[0] ?? '', names[1] ?? '')) return undefined;
  return { host, project, 'removed at': inText(at), route: route.name };
};
