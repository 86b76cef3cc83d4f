import type { CustomDomain } from '../../../domains/domain/attachment/custom-domain.ts';
import { isAtApex } from '../../../domains/domain/dns/standing.ts';
import { recordsFor } from '../../../domains/domain/dns/records.ts';
import { html, type Html } from '../frame/html.ts';
import { copyButton } from '../frame/parts.ts';

export const whyDelete =
  'Attackers search for leftover records to take over names. The values of these are never assigned again, but delete them all the same.';

/** The DNS records to delete after a domain was removed, or before it is. */
export const leftRecords = (domain: CustomDomain, platformHost: string): Html => {
  const { report } = domain.dns;
  const needs = { platformHost, txtRequired: report?.ownershipRequired ?? false };
  const records = recordsFor({ ...domain, isApex: isAtApex(domain) }, domain.token, needs)
    // An optional TXT record that was never seen was most likely never created.
    .filter(({ required }) => required || report?.ownershipProven === true);
  return html`<ul class="bullets">
    ${records.map(
      ({ type, fqdn, value }) =>
        html`<li><strong>${type}</strong> <code>${fqdn}</code> → <code>${value}</code> ${copyButton(fqdn, `the name of the ${type} record`)}</li>`,
    )}
  </ul>`;
};
