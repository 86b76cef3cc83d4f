import type { RecordZones } from '../../../domains/domain/dns/records.ts';
import * as v from 'valibot';
import type { CustomDomain } from '../../../domains/domain/attachment/custom-domain.ts';
import { isServed } from '../../../domains/domain/attachment/serving.ts';
import type { DashboardPorts } from '../frame/ports.ts';
import { domainHead } from './head.ts';
import { leftRecords, whyDelete } from './left-records.ts';
import { domainOf, domainPath, domainsPath } from './paths.ts';
import { nameInText, shownName } from './words.ts';
import { html, type Html } from '../frame/html.ts';
import { formError } from '../frame/form-parts.ts';
import { PageProblem } from '../frame/page-problem.ts';
import { form, type Refusal, type Screen, type Visit } from '../frame/screen.ts';

const path = `${domainPath(':slug', ':host')}/remove`;

/** Asks once more before a domain is removed. */
export const removeDomainScreen = (ports: DashboardPorts): Screen => ({
  path,
  section: 'projects',
  live: false,
  show: async (visit: Visit, refusal?: Refusal) => {
    const { project, domain } = await domainOf(ports, visit);
    const content = html`
      ${domainHead(project, domain, { title: html`Remove ${shownName(domain)}?` })}
      ${confirmation(domain, project.slug, { zones: ports.settings, refusal })}`;
    return { title: `Remove ${nameInText(domain)}`, content };
  },
  forms: [
    form({
      name: 'remove',
      path,
      schema: v.object({ attachment: v.fallback(v.string(), '') }),
      act: async (visit, { attachment }) => {
        const { project, domain } = await domainOf(ports, visit);
        // An old page, from before the domain was removed and added again, must not remove the new one.
        if (attachment !== '' && attachment !== domain.id) {
          throw new PageProblem(
            409,
            `${nameInText(domain)} was removed and added again in the meantime. Reload its page first.`,
          );
        }
        await ports.domains.removeDomain(domain);
        return { to: `${domainsPath(project.slug)}?host=${domain.host}`, done: 'removed' };
      },
    }),
  ],
});

/** What ends with it at once. */
export const lossesOf = (domain: CustomDomain): readonly string[] => [
  isServed(domain)
    ? 'Visitors can no longer reach the site under this name, effective immediately.'
    : 'Its DNS is no longer checked.',
  domain.certificate.kind === 'issued'
    ? 'Its certificate and private key are destroyed.'
    : 'It has no certificate yet; none will be ordered.',
];

const confirmation = (
  domain: CustomDomain,
  slug: string,
  { zones, refusal }: { readonly zones: RecordZones; readonly refusal: Refusal | undefined },
): Html => {
  const { id, host, state } = domain;
  const back = domainPath(slug, host);
  if (state === 'removed') {
    return html`<section class="card">
      <p>The domain is removed already, and nothing is served under it any more. Delete its records at your DNS provider. ${whyDelete}</p>
      ${leftRecords(domain, zones)}
      <p><a href="${domainsPath(slug)}">Back to the domains</a></p>
    </section>`;
  }
  return html`<section class="card problem bad">
    <ul class="bullets">
      ${lossesOf(domain).map((loss) => html`<li>${loss}</li>`)}
      <li>Redirects from it and to it stop working.</li>
      <li>The site itself stays. Adding the name again starts over, with different records.</li>
    </ul>
    <p>Then delete these records at your DNS provider. ${whyDelete}</p>
    ${leftRecords(domain, zones)}
    <form method="post" action="${back}/remove" class="row">
      ${formError(refusal)}
      <input type="hidden" name="attachment" value="${id}">
      <button class="danger">Remove domain</button>
      <a class="button bare" href="${back}">Cancel</a>
    </form>
  </section>`;
};
