import type { DnsRecord } from '../../../domains/domain/dns/records.ts';
import type { DomainView } from '../../../domains/use-cases/show-domain.ts';
import { nameOf, shownName } from './words.ts';
import { html, type Html } from '../frame/html.ts';
import { badge, copyButton, copyable, facts } from '../frame/parts.ts';
import { table, type Column } from '../frame/table.ts';

/** The records to create, each ready to be copied into the form of a provider. */
export const recordsSection = ({ domain, records, bind, hints }: DomainView): Html =>
  html`<section class="card" id="all-records" aria-labelledby="records">
    <h2 id="records">DNS records</h2>
    <p class="hint">${whereToKeep(domain)}</p>
    ${table(records, columns(domain.dns.report), { look: 'records tops' })}
    <details id="bind">
      <summary>As lines of a zone file (BIND)</summary>
      ${zoneFile(bind, records)}
    </details>
    ${domain.state === 'added' && hintList(hints)}
  </section>`;

/** Where the records belong, and what they are for. */
const whereToKeep = ({ state, registrableDomain }: DomainView['domain']): Html =>
  state === 'added'
    ? html`Create them at the DNS provider of ${zoneName(registrableDomain)}. Their values are unique to this domain.`
    : html`Keep them at the DNS provider of ${zoneName(registrableDomain)}. Without them, visitors cannot reach your site, and its certificate cannot be renewed.`;

/** @param path of the domain's own page @param anchor of the form that verifies it */
export const newRecords = (
  { domain, records, bind, hints }: DomainView,
  { path, anchor }: { readonly path: string; readonly anchor: string },
): Html =>
  html`<section class="card" id="records-to-create" aria-labelledby="new-records">
    <h2 id="new-records">Records to create for ${shownName(domain)}</h2>
    <p class="hint">Create them at the DNS provider of ${zoneName(domain.registrableDomain)}. Then <a href="#${anchor}">verify the domain below</a>, or wait: we check automatically, and <a href="${path}">its page</a> shows the progress.</p>
    <div class="stack">${records.map(newRecord)}</div>
    <h3>As lines of a zone file (BIND)</h3>
    ${zoneFile(bind, records)}
    <h3>Good to know</h3>
    ${hintList(hints)}
  </section>`;

const newRecord = ({ type, name, value, ttl, required, purpose }: DnsRecord): Html =>
  html`<div class="stack new-record">
    <p class="row"><strong>${typeName(type)}</strong> ${badge(required ? 'required' : 'optional', 'idle')} <span class="hint">${purposes[purpose]}</span></p>
    ${facts([
      ['Name', copied(name, `the name of the ${type} record`)],
      ['Value', copied(value, `the value of the ${type} record`)],
      ['TTL', html`<code>${ttl}</code>`],
    ])}
  </div>`;

const zoneName = (host: string): Html => html`<strong>${shownName(nameOf(host))}</strong>`;

const copied = (text: string, what: string): Html =>
  html`<div class="copied"><code>${text}</code>${copyButton(text, what)}</div>`;

const zoneFile = (bind: string, records: readonly DnsRecord[]): Html =>
  html`${copyable(bind, 'zone file', 'lines')}
    ${records.some(({ type }) => type === 'ALIAS') && html`<p class="hint">BIND has no ALIAS type, so that line is a comment. Create it at your DNS provider as ALIAS, ANAME or CNAME flattening; not every provider supports it.</p>`}`;

const hintList = (hints: readonly string[]): Html =>
  html`<ul class="bullets hint">${hints.map((hint) => html`<li>${hint}</li>`)}</ul>`;

const typeName = (type: DnsRecord['type']): string => (type === 'ALIAS' ? 'ALIAS or ANAME' : type);

const purposes: Readonly<Record<DnsRecord['purpose'], string>> = {
  route: 'points the name to your site',
  ownership: 'proves that you own the name',
};

const columns = (report: DomainView['domain']['dns']['report']): readonly Column<DnsRecord>[] => [
  [
    'Type',
    'text',
    ({ type, required, purpose }) =>
      html`<div><strong>${typeName(type)}</strong><br><span class="hint">${required ? 'required' : 'optional'}: ${purposes[purpose]}</span></div>`,
  ],
  [
    'Name',
    'text',
    ({ type, name, fqdn }) =>
      html`${copied(name, `the name of the ${type} record`)}${name !== fqdn && html`<span class="hint">${fqdn}</span>`}`,
  ],
  ['Value', 'text', ({ type, value }) => copied(value, `the value of the ${type} record`)],
  ['TTL', 'text', ({ ttl }) => ttl],
  [
    'Seen',
    'text',
    ({ purpose, required }) =>
      report
        ? seenBadge(purpose === 'route' ? report.pointsHere : report.ownershipProven, required)
        : badge('not checked', 'idle'),
  ],
];

const seenBadge = (isSeen: boolean, required: boolean): Html => {
  if (isSeen) return badge('seen', 'good');
  return required ? badge('not seen', 'bad') : badge('not seen', 'idle');
};
