import type { AuditEntry } from '../../access/ports.ts';
import { namesIn } from './audit-names.ts';
import { actorName, auditWords, type Names } from './audit-words.ts';
import type { DashboardPorts } from './dashboard-ports.ts';
import { html, type Html } from './html.ts';
import { exact, pager, time } from './parts.ts';
import type { Visit } from './screen.ts';

const pageSize = 50;
const path = '/dashboard/account';

type Place = Pick<AuditEntry, 'id' | 'occurredAt'>;

/** What happened in the account, newest first, a page at a time. */
export const auditSection = async (
  ports: Pick<DashboardPorts, 'auditLog' | 'access' | 'sites'>,
  { accountId, query, now }: Visit,
): Promise<Html> => {
  const before = placeOf(query.get('before'));
  const found = await ports.auditLog.list(accountId, pageSize + 1, before);
  const entries = found.slice(0, pageSize);
  const names = await namesIn(ports, accountId, entries);
  const last = found.length > pageSize ? entries.at(-1) : undefined;
  return html`<section class="card" id="audit-log">
    <h2>Audit log</h2>
    ${entries.length === 0 ? html`<p class="quiet">${before ? 'Nothing older.' : 'Nothing yet. What happens shows here after a second or two.'}</p>` : listed(entries, names, now)}
    ${pager({
      first: before && `${path}#audit-log`,
      next: last && `${path}?before=${textOf(last)}#audit-log`,
      of: 'entries',
    })}
  </section>`;
};

const listed = (
  entries: readonly AuditEntry[],
  names: Names,
  now: Date,
): Html => html`<div class="table">
  <table class="cards-on-phone audit">
    <thead><tr><th>When</th><th>Who</th><th>What</th></tr></thead>
    <tbody>${entries.map((entry) => row(entry, names, now))}</tbody>
  </table>
</div>`;

const row = (entry: AuditEntry, names: Names, now: Date): Html => html`<tr>
  <td data-label="When">${time(entry.occurredAt, now)}</td>
  <td data-label="Who">${actorName(entry.actor, names)}</td>
  <td class="name">
    <details>
      <summary>${auditWords(entry, names) ?? html`<code>${entry.what}</code>`}</summary>
      <dl class="facts">
        <dt>Event</dt><dd><code>${entry.what}</code></dd>
        <dt>At</dt><dd>${exact(entry.occurredAt)}</dd>
        ${Object.entries(entry.details).map(([name, value]) => html`<dt>${name}</dt><dd><code>${value}</code></dd>`)}
      </dl>
    </details>
  </td>
</tr>`;

/** Of the query: `<milliseconds>.<id>` of the last entry that was shown. @returns undefined for anything else */
const placeOf = (text: string | null): Place | undefined => {
  const [, milliseconds, id] = /^(\d{1,15})\.([\w-]{1,64})$/.exec(text ?? '') ?? [];
  if (milliseconds === undefined || id === undefined) return undefined;
  return { id, occurredAt: new Date(Number(milliseconds)) };
};

const textOf = ({ id, occurredAt }: Place): string => `${occurredAt.getTime()}.${id}`;
