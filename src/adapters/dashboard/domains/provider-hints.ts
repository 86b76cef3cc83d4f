import { filledForm, type HostedZone } from '../../../domains/domain/dns/provider.ts';
import type { DnsRecord } from '../../../domains/domain/dns/records.ts';
import { html, nothing, type Html } from '../frame/html.ts';
import { nameOf, shownName } from './words.ts';

/** What is particular about the provider of a zone, and a link to its own page. Nothing where we do not know it. */
export const providerHints = (
  hosted: HostedZone | undefined,
  records: readonly DnsRecord[],
): Html => {
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
      ? [html`Names below are as its form wants them, without <code>${zone}</code>.`]
      : []),
    ...(dotted
      ? [
          'A host name as a value needs a dot at its end there, or the provider adds the zone to it. The values below have it.',
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
