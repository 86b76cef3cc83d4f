import type { DnsRecord } from '../../sites/domain/dns-records.ts';
import type { DomainView } from '../../sites/use-cases/show-domain.ts';
import { shownName } from './domain-words.ts';
import { html, type Html } from './html.ts';
import { badge, copyButton } from './parts.ts';

/** The records to create, each ready to be copied into the form of a provider. */
export const recordsSection = ({ domain, records, bind, hints }: DomainView): Html =>
  html`<section class="card" aria-labelledby="records">
    <h2 id="records">DNS records</h2>
    <p class="quiet">Create them where the DNS of <strong>${domain.registrableDomain}</strong> is managed. They are made for this domain alone.</p>
    <div class="table">
      <table class="cards-on-phone records">
        <thead><tr><th scope="col">Type</th><th scope="col">Name</th><th scope="col">Value</th><th scope="col">TTL</th><th scope="col">Needed</th><th scope="col">Seen</th></tr></thead>
        <tbody>${records.map((record) => recordRow(record, domain.dns.report))}</tbody>
      </table>
    </div>
    <details id="bind">
      <summary>As lines of a zone file (BIND)</summary>
      <div class="snippet"><pre tabindex="0" aria-label="Zone file">${bind}</pre>${copyButton(bind, 'the lines of the zone file')}</div>
    </details>
    <ul class="hints">${hints.map((hint) => html`<li>${hint}</li>`)}</ul>
  </section>`;

/** Of a domain that was just added, on the page where that was done. @param path of the domain's own page */
export const newRecords = ({ domain, records, bind }: DomainView, path: string): Html =>
  html`<section class="card" aria-labelledby="new-records">
    <h2 id="new-records">Records to create for ${shownName(domain)}</h2>
    <p class="quiet">Where the DNS of <strong>${domain.registrableDomain}</strong> is managed. Then press Verify, or wait: <a href="${path}">its page</a> tells how it goes on.</p>
    ${records.map(newRecord)}
    <h3>As lines of a zone file (BIND)</h3>
    <div class="snippet"><pre tabindex="0" aria-label="Zone file">${bind}</pre>${copyButton(bind, 'the lines of the zone file')}</div>
  </section>`;

const newRecord = ({ type, name, value, ttl, required, purpose }: DnsRecord): Html =>
  html`<dl class="facts">
    <dt>Type</dt><dd><strong>${typeName(type)}</strong>, ${required ? 'required' : 'optional'}: ${purposes[purpose]}</dd>
    <dt>Name</dt><dd><div class="copied"><code>${name}</code>${copyButton(name, `the name of the ${type} record`)}</div></dd>
    <dt>Value</dt><dd><div class="copied"><code>${value}</code>${copyButton(value, `the value of the ${type} record`)}</div></dd>
    <dt>TTL</dt><dd>${ttl}</dd>
  </dl>`;

const typeName = (type: DnsRecord['type']): string => (type === 'ALIAS' ? 'ALIAS or ANAME' : type);

const purposes: Readonly<Record<DnsRecord['purpose'], string>> = {
  route: 'leads visitors here',
  ownership: 'proves that the name is yours',
};

const recordRow = (
  { type, name, fqdn, value, ttl, required, purpose }: DnsRecord,
  report: DomainView['domain']['dns']['report'],
): Html =>
  html`<tr>
    <td data-label="Type"><strong>${typeName(type)}</strong></td>
    <td data-label="Name"><div class="copied"><code>${name}</code>${copyButton(name, `the name of the ${type} record`)}</div>${name !== fqdn && html`<span class="hint">${fqdn}</span>`}</td>
    <td data-label="Value"><div class="copied"><code>${value}</code>${copyButton(value, `the value of the ${type} record`)}</div></td>
    <td data-label="TTL">${ttl}</td>
    <td data-label="Needed"><div>${required ? 'required' : 'optional'}<br><span class="hint">${purposes[purpose]}</span></div></td>
    <td data-label="Seen">${report ? seenBadge(purpose === 'route' ? report.pointsHere : report.ownershipProven, required) : html`<span class="quiet">not looked yet</span>`}</td>
  </tr>`;

const seenBadge = (isSeen: boolean, required: boolean): Html => {
  if (isSeen) return badge('seen', 'good');
  return required ? badge('not seen', 'bad') : badge('not seen', 'idle');
};
