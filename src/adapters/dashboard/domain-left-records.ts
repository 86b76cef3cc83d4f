import type { CustomDomain } from '../../sites/domain/custom-domain.ts';
import { recordsFor } from '../../sites/domain/dns-records.ts';
import { html, type Html } from './html.ts';
import { copyButton } from './parts.ts';

export const whyDelete =
  'We never give its value to anybody else, but records that lead nowhere are what others look for to take names over.';

/** What has to be deleted in the DNS of a domain that is gone, or goes. */
export const leftRecords = (domain: CustomDomain, platformHost: string): Html => {
  const { report } = domain.dns;
  const needs = { platformHost, txtRequired: report?.ownershipRequired ?? false };
  const isApex = report?.isApex ?? domain.isApex;
  const records = recordsFor({ ...domain, isApex }, domain.token, needs)
    // An optional proof that nobody saw was most likely never created.
    .filter(({ required }) => required || report?.ownershipProven === true);
  return html`<ul class="left-records">
    ${records.map(
      ({ type, fqdn, value }) =>
        html`<li><strong>${type}</strong> <code>${fqdn}</code> → <code>${value}</code> ${copyButton(fqdn, `the name of the ${type} record`)}</li>`,
    )}
  </ul>`;
};
