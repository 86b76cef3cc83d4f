import type { CustomDomain } from '../../../domains/domain/attachment/custom-domain.ts';
import { filledForm, type HostedZone } from '../../../domains/domain/dns/provider.ts';
import {
  type DnsRecord,
  recordsFor,
  type RecordZones,
} from '../../../domains/domain/dns/records.ts';
import type { DnsReport } from '../../../domains/domain/dns/report.ts';
import { isAtApex } from '../../../domains/domain/dns/judgement.ts';
import type { DescribedDomain } from '../../../domains/use-cases/show-domain.ts';
import { html, type Html, nothing } from '../frame/html.ts';
import {
  badge,
  type Column,
  copyable,
  copyButton,
  counted,
  folded,
  table,
} from '../frame/parts.ts';
import { nameOf, shownName } from './words.ts';

interface ShownRecord extends DnsRecord {
  readonly view: DescribedDomain;
  readonly isSeen: boolean;
}

const shownOf = (view: DescribedDomain): readonly ShownRecord[] => {
  const { report } = view.domain.dns;
  return view.records.map((record) => ({
    ...record,
    view,
    isSeen: report !== undefined && isSeen(report, record.purpose),
  }));
};

/**
 * Lists the records to create for one domain, or in one table for both of a pair. Records that we see have a tick.
 * @param note explains how the pair works
 */
export const recordsToCreate = (views: readonly DescribedDomain[], note: Html = nothing): Html => {
  const [first] = views;
  if (!first) return nothing;
  const all = views.flatMap(shownOf);
  const missing = all.filter((one) => !one.isSeen);
  const required = missing.filter((one) => one.required);
  const optional = missing.filter((one) => !one.required);
  const seen = all.filter((one) => one.isSeen);
  const hints = new Set(views.flatMap((view) => view.hints));
  return html`<section class="stack" id="all-records" aria-labelledby="records">
    <h2 id="records">Records to create for ${views.map(({ domain }, at) => html`${at > 0 && ' and '}${shownName(domain)}`)}</h2>
    ${views.map(contestNote)}
    <p class="hint">Create them at the DNS provider of ${zoneName(first.domain.registrableDomain)}. Their values are unique to ${views.length > 1 ? 'these domains' : 'this domain'}. We check automatically.</p>
    ${note}
    ${providerHints(first.hosted, all)}
    ${required.length > 0 && table(required, columns, { look: 'records tops' })}
    ${seen.length > 0 && html`<ul class="ticks" aria-label="Records that we see">${seen.map(({ type, fqdn }) => html`<li class="good">${typeName(type)} <code>${fqdn}</code> <span class="quiet">seen</span></li>`)}</ul>`}
    ${optional.length > 0 && html`<details id="optional-records"><summary>${counted(optional.length, 'optional record')}</summary>${table(optional, columns, { look: 'records tops' })}</details>`}
    <details id="good-to-know"><summary>Good to know</summary>${hintList([...hints])}</details>
  </section>`;
};

export const recordsToKeep = (view: DescribedDomain): Html => {
  const { hosted, domain } = view;
  const records = shownOf(view);
  return folded(
    { id: 'records', title: 'DNS records' },
    html`<p class="hint">Keep them at the DNS provider of ${zoneName(domain.registrableDomain)}. Without them, visitors cannot reach your site, and its certificate cannot be renewed.</p>
    ${providerHints(hosted, records)}
    ${table(records, [...columns, ['Seen', 'text', seenBadge]], { look: 'records tops' })}`,
  );
};

const contestNote = ({ contest }: Pick<DescribedDomain, 'contest'>): Html =>
  contest === undefined ? nothing : html`<p class="notice bad">${contest}</p>`;

const zoneName = (host: string): Html => html`<strong>${shownName(nameOf(host))}</strong>`;

const copied = (text: string, what: string): Html =>
  html`<div class="copied"><code>${text}</code>${copyButton(text, what)}</div>`;

export const zoneFile = (bind: string, records: readonly DnsRecord[]): Html =>
  html`${copyable(bind, 'zone file', 'lines')}
    ${records.some(({ type }) => type === 'ALIAS') && html`<p class="hint">BIND has no ALIAS type, so that line is a comment. Create it at your DNS provider as ALIAS, ANAME or CNAME flattening; not every provider supports it.</p>`}`;

const hintList = (hints: readonly string[]): Html =>
  html`<ul class="bullets hint">${hints.map((hint) => html`<li>${hint}</li>`)}</ul>`;

const typeName = (type: DnsRecord['type']): string => (type === 'ALIAS' ? 'ALIAS or ANAME' : type);

const purposes: Readonly<Record<DnsRecord['purpose'], string>> = {
  route: 'points the name to your site',
  ownership: 'proves that you own the name',
  delegation:
    'lets us get certificates by DNS, even before the name points here, and proves that you own it',
};

const columns: readonly Column<ShownRecord>[] = [
  [
    'Type',
    'bare',
    ({ type, required, purpose }) =>
      html`<div><strong>${typeName(type)}</strong><br><span class="hint">${required ? 'required' : 'optional'}: ${purposes[purpose]}</span></div>`,
  ],
  ['Name', 'text', (record) => nameCell(record, record.view.hosted)],
  ['Value', 'text', (record) => valueCell(record, record.view.hosted)],
  ['TTL', 'text', ({ ttl }) => ttl],
];

/** Shows the name as the provider's form expects it, if we know the provider. */
const nameCell = (record: DnsRecord, hosted: DescribedDomain['hosted']): Html => {
  const { type, fqdn } = record;
  const name = (hosted && filledForm(record, hosted).name) ?? record.name;
  const shown =
    name === '' ? html`<em>leave it empty</em>` : copied(name, `the name of the ${type} record`);
  return html`${shown}${name !== fqdn && html` <span class="hint">${fqdn}</span>`}`;
};

const valueCell = (record: DnsRecord, hosted: DescribedDomain['hosted']): Html => {
  const { value } = hosted ? filledForm(record, hosted) : record;
  return copied(value, `the value of the ${record.type} record`);
};

const seenBadge = ({ isSeen: isThere, required, view }: ShownRecord): Html => {
  if (isThere) return badge('seen', 'good');
  if (!view.domain.dns.report) return badge('not checked', 'idle');
  return required ? badge('not seen', 'bad') : badge('not seen', 'idle');
};

/** Shows hints for the zone's provider and a link to its page. Empty for unknown providers. */
const providerHints = (hosted: HostedZone | undefined, records: readonly DnsRecord[]): Html => {
  if (!hosted) return nothing;
  const { provider, zone } = hosted;
  const hints = hintsOf(hosted, records);
  return html`<div class="stack" id="provider">
    <p>The name servers of <strong>${shownName(nameOf(zone))}</strong> belong to <strong>${provider.name}</strong>. ${provider.page !== undefined && html`<a href="${provider.page}" rel="noopener noreferrer external">DNS at ${provider.name}</a>`}</p>
    ${hints.length > 0 && html`<ul class="bullets">${hints.map((hint) => html`<li>${hint}</li>`)}</ul>`}
  </div>`;
};

const hintsOf = (hosted: HostedZone, records: readonly DnsRecord[]): readonly (Html | string)[] => {
  const { provider, zone } = hosted;
  const forms = records.map((record) => ({ record, form: filledForm(record, hosted) }));
  const [ofZone] = forms.filter(({ record }) => record.type === 'ALIAS');
  const written = forms.some(({ form }) => form.name !== undefined);
  const dotted = forms.some(({ record, form }) => record.value !== form.value);
  return [
    ...(written
      ? [html`The names below are in the format of its form, without <code>${zone}</code>.`]
      : []),
    ...(dotted
      ? [
          'There, a host name as a value must end in a dot, or the provider appends the zone. The values below end in one.',
        ]
      : []),
    ...(ofZone ? aliasHints(ofZone.form.type) : []),
    ...(provider.withoutProxy !== undefined
      ? [
          `${provider.withoutProxy} for the record that points here. A proxy hides it from us, and certificates can fail.`,
        ]
      : []),
  ];
};

const aliasHints = (type: ReturnType<typeof filledForm>['type']): readonly string[] => {
  switch (type) {
    case 'CNAME':
      return ['For the domain itself, create a CNAME record: this provider flattens it.'];
    case 'ALIAS':
      return ['For the domain itself, this provider has the type ALIAS.'];
    case 'none':
      return [
        'For the domain itself, this provider has no record that can lead to another name. Use a name such as www here, and redirect the domain to it; or move the DNS to a provider with ALIAS records.',
      ];
    case undefined:
      return [];
  }
};

export const isSeen = (report: DnsReport, purpose: DnsRecord['purpose']): boolean => {
  switch (purpose) {
    case 'route':
      return report.pointsHere;
    case 'ownership':
      return report.textSeen ?? report.ownershipProven;
    case 'delegation':
      return report.validation?.delegated ?? false;
  }
};

export const whyDelete =
  'Attackers search for leftover records to take over names. We never assign these values again, but delete the records anyway.';

export const leftRecords = (domain: CustomDomain, zones: RecordZones): Html => {
  const { report } = domain.dns;
  const needs = { ...zones, txtRequired: report?.ownershipRequired ?? false };
  const records = recordsFor({ ...domain, isApex: isAtApex(domain) }, domain.token, needs)
    // An optional record that we never saw was most likely never created.
    .filter(({ required, purpose }) => required || (report && isSeen(report, purpose)));
  return html`<ul class="bullets">
    ${records.map(
      ({ type, fqdn, value }) =>
        html`<li><strong>${type}</strong> <code>${fqdn}</code> → <code>${value}</code> ${copyButton(fqdn, `the name of the ${type} record`)}</li>`,
    )}
  </ul>`;
};
