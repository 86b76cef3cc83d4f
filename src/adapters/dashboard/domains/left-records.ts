import type { CustomDomain } from '../../../domains/domain/attachment/custom-domain.ts';
import { isAtApex } from '../../../domains/domain/dns/judgement.ts';
import { recordsFor, type RecordZones } from '../../../domains/domain/dns/records.ts';
import { html, type Html } from '../frame/html.ts';
import { copyButton } from '../frame/parts.ts';
import { isSeen } from './seen-records.ts';

export const whyDelete =
  'Attackers search for leftover records to take over names. The values of these are never assigned again, but delete them all the same.';

/** The DNS records to delete after a domain was removed, or before it is. */
export const leftRecords = (domain: CustomDomain, zones: RecordZones): Html => {
  const { report } = domain.dns;
  const needs = { ...zones, txtRequired: report?.ownershipRequired ?? false };
  const records = recordsFor({ ...domain, isApex: isAtApex(domain) }, domain.token, needs)
    // An optional record that was never seen was most likely never created.
    .filter(({ required, purpose }) => required || (report && isSeen(report, purpose)));
  return html`<ul class="bullets">
    ${records.map(
      ({ type, fqdn, value }) =>
        html`<li><strong>${type}</strong> <code>${fqdn}</code> → <code>${value}</code> ${copyButton(fqdn, `the name of the ${type} record`)}</li>`,
    )}
  </ul>`;
};
