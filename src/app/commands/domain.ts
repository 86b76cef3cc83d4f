import type { Command } from 'commander';
import { limitInWords } from '../../domains/domain/certificates/budget-words.ts';
import type { CustomDomain } from '../../domains/domain/attachment/custom-domain.ts';
import type { Domains } from '../../domains/domains.ts';
import type { DomainView } from '../../domains/use-cases/show-domain.ts';
import { DomainsKey, SitesKey } from '../keys.ts';
import { addDomainList } from './domain-list.ts';
import { addDomainConfig } from './domain-settings.ts';
import { hostInWords, presentDomain, presentView, stateInWords } from './present-domain.ts';
import { print, table, withContainer, type OutputOptions } from './run-command.ts';

interface DomainOptions extends OutputOptions {
  readonly project: string;
}

/** The dashboard's actions on custom domains, for operators. */
export const domainCommands = (program: Command): void => {
  const domain = program.command('domain').description('add and check custom domains');

  domain
    .command('add')
    .description('add a domain to a project and show the DNS records to create')
    .argument('<host>', 'the domain, like shop.example.com')
    .requiredOption('--project <slug>', 'slug of the project')
    .option('--json', 'print JSON')
    .action(async (host: string, options: DomainOptions) => {
      await withContainer(async (container) => {
        const domains = container.get(DomainsKey);
        const { project } = await container.get(SitesKey).getSite(options.project);
        await show(domains, await domains.addDomain(project, host), options);
      });
    });

  for (const [name, description] of [
    [
      'verify',
      'check the DNS of a domain now, or try again to get its certificate; prints the problems it finds, ' +
        'with exit code 0',
    ],
    ['show', 'show the records, problems, certificate and timeline of a domain'],
    ['remove', 'stop serving a domain at once'],
  ] as const) {
    domain
      .command(name)
      .description(description)
      .argument('<host>', 'the domain')
      .requiredOption('--project <slug>', 'slug of the project')
      .option('--json', 'print JSON')
      .action(async (host: string, options: DomainOptions) => {
        await withContainer(async (container) => {
          const domains = container.get(DomainsKey);
          const { project } = await container.get(SitesKey).getSite(options.project);
          const found = await domains.getDomain(project.id, host);
          await show(domains, await steps[name](domains, found), options);
        });
      });
  }

  addDomainConfig(domain);
  addDomainList(domain);
};

type Step = (domains: Domains, domain: CustomDomain) => Promise<CustomDomain>;

const steps: Readonly<Record<'verify' | 'show' | 'remove', Step>> = {
  verify: (domains, domain) => domains.verifyDomain(domain),
  show: (_, domain) => Promise.resolve(domain),
  remove: (domains, domain) => domains.removeDomain(domain),
};

const show = async (
  domains: Domains,
  domain: CustomDomain,
  options: DomainOptions,
): Promise<void> => {
  const view = await domains.showDomain(domain);
  const timeline = options.json === true ? await domains.readWholeTimeline(domain) : [];
  print(
    options,
    { domain: presentDomain(domain, options.project), ...presentView(view, timeline) },
    describe(view),
  );
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
