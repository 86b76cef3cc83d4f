import type { AuditEntry, AuditSubject } from '../../../access/ports.ts';
import { actorName, auditWords } from '../account/audit-words.ts';
import { html, type Html } from '../frame/html.ts';
import { naming, table, time } from '../frame/parts.ts';
import type { Visit } from '../frame/screen.ts';
import type { DashboardPorts } from '../ports.ts';

const most = 50;

export const historyOf = async (
  { auditLog, access }: Pick<DashboardPorts, 'auditLog' | 'access'>,
  { accountId, now }: Visit,
  about: readonly AuditSubject[],
): Promise<Html> => {
  const [entries, keys] = await Promise.all([
    auditLog.list(accountId, most, { about }),
    access.listApiKeys(accountId),
  ]);
  const key = naming(keys.map(({ id, name }) => [id, name]));
  return html`<section class="card" aria-labelledby="history">
    <h2 id="history">History</h2>
    ${entries.length === most && html`<p class="hint">The latest ${most} entries. The audit log has all of them.</p>`}
    ${table<AuditEntry>(entries, [
      ['What', 'name', (entry) => auditWords(entry, noOthers) ?? entry.what],
      ['When', 'text', ({ occurredAt }) => time(occurredAt, now)],
      ['Who', 'text', ({ actor }) => actorName(actor, { key })],
    ])}
  </section>`;
};

const same = (id: string): string => id;
const noOthers = { key: same, person: same, project: same, domain: same };
