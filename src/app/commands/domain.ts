import { Argument } from 'commander';
import { limitInWords } from '../../domains/domain/certificates/budget-words.ts';
import type { CustomDomain } from '../../domains/domain/attachment/custom-domain.ts';
import type { Domains } from '../../domains/domains.ts';
import type { DomainView } from '../../domains/use-cases/show-domain.ts';
import { DomainsKey, SitesKey } from '../keys.ts';
import { domainList } from './domain-list.ts';
import { domainConfig } from './domain-settings.ts';
import { hostInWords, presentDomain, presentView, stateInWords } from './present-domain.ts';
import {
  command,
  group,
  ofProject,
  table,
  type Answer,
  type OutputOptions,
} from './run-command.ts';

interface OfDomain {
  readonly host: string;
  readonly project: string;
}

const add = command(
  'add a domain to a project and show the DNS records to create',
  [new Argument('<host>', 'the domain, like shop.example.com'), ofProject],
  async (container, given: OfDomain & OutputOptions) => {
    const domains = container.get(DomainsKey);
    const { project } = await container.get(SitesKey).getSite(given.project);
    return show(domains, await domains.addDomain(project, given.host), given);
  },
);

type Step = (domains: Domains, domain: CustomDomain) => Promise<CustomDomain>;

const step = (description: string, take: Step) =>
  command(
    description,
    [new Argument('<host>', 'the domain'), ofProject],
    async (container, given: OfDomain & OutputOptions) => {
      const domains = container.get(DomainsKey);
      const { project } = await container.get(SitesKey).getSite(given.project);
      const domain = await domains.getDomain(project.id, given.host);
      return show(domains, await take(domains, domain), given);
    },
  );

/** The dashboard's actions on custom domains, for operators. */
export const domainCommands = group('domain', 'add and check custom domains', {
  add,
  verify: step(
    'check the DNS of a domain now, or try again to get its certificate; prints the problems it finds, ' +
      'with exit code 0',
    (domains, domain) => domains.verifyDomain(domain),
  ),
  show: step('show the records, problems, certificate and timeline of a domain', (_, domain) =>
    Promise.resolve(domain),
  ),
  remove: step('stop serving a domain at once', (domains, domain) => domains.removeDomain(domain)),
  config: domainConfig,
  list: domainList,
});

const show = async (
  domains: Domains,
  domain: CustomDomain,
  { project, json }: OfDomain & OutputOptions,
): Promise<Answer> => {
  const view = await domains.showDomain(domain);
  const timeline = json ? await domains.readWholeTimeline(domain) : [];
  return [
    { domain: presentDomain(domain, project), ...presentView(view, timeline) },
    describe(view),
  ];
};

const describe = ({ domain, records, problems, hints, nextAt, budget }: DomainView): string => {
  const lines = [`${hostInWords(domain)}: ${stateInWords(domain)}`];
  if (domain.state === 'removed') {
    lines.push(`Delete the DNS record of ${domain.host}: it points to nothing now.`);
    return lines.join('\n');
  }
  if (domain.state === 'live') {
    lines.push(`Certificate valid until ${domain.certificate.notAfter.toISOString()}.`);
  }
  const rows = records.map(({ type, name, value, ttl, required }) => [
    type,
    name,
    value,
    String(ttl),
    required ? 'required' : 'optional',
  ]);
  lines.push('', table(['TYPE', 'NAME', 'VALUE', 'TTL', ''], rows, ''));
  for (const { severity, code, seen, wanted, fix } of problems) {
    lines.push('', `${severity}: ${code}`, `  seen:   ${seen}`, `  wanted: ${wanted}`, `  ${fix}`);
  }
  if (domain.state === 'added') lines.push('', ...hints);
  if (budget.used > 0) {
    lines.push('', `${String(budget.used)} of ${String(budget.of)} failures used this hour.`);
  }
  if (budget.heldUpBy) {
    const { reason, nextAt: until } = budget.heldUpBy;
    const limit = `${limitInWords(reason)} (${reason})`;
    lines.push(
      '',
      `The certificate waits for a limit: ${limit}. Next attempt: ${until.toISOString()}.`,
    );
  }
  if (nextAt) lines.push('', `Next automatic step: ${nextAt.toISOString()}.`);
  return lines.join('\n');
};
