import { Argument } from 'commander';
import type { Container } from 'inversify';
import { type CustomDomain, stateInWords } from '../../domains/domain/attachment/custom-domain.ts';
import { nameInText } from '../../domains/domain/names/hostname.ts';
import { limitInWords } from '../../domains/domain/certificates/ca-budget.ts';
import type { DomainSettingsDocument } from '../../domains/domain/redirects/settings.ts';
import type { Domains } from '../../domains/domains.ts';
import type { DomainView } from '../../domains/use-cases/show-domain.ts';
import { Clock } from '../../kernel/ports.ts';
import { DomainsKey, SitesKey, AccessKey } from '../keys.ts';
import type { Project } from '../../sites/domain/project.ts';
import { domainConfig, domainPrimary, domainShare } from './domain-settings.ts';
import { presentDomain, presentView, readyInWords } from './present-domain.ts';
import {
  command,
  group,
  ofProject,
  option,
  type OutputOptions,
  table,
  type Define,
  print,
  withContainer,
} from './run-command.ts';

interface OfDomain {
  readonly host: string;
  readonly project: string;
}

const add = command(
  'add a domain to a project and show the DNS records to create',
  [
    new Argument('<host>', 'the domain, like shop.example.com'),
    ofProject,
    option('--pair', 'also add its www name, or the name without www, and redirect it to this one'),
  ],
  async (container, given: OfDomain & OutputOptions & { readonly pair?: boolean }) => {
    const domains = container.get(DomainsKey);
    const { project } = await container.get(SitesKey).getSite(given.project);
    if (!given.pair) return show(container, await domains.addDomain(project, given.host), given);
    const { typed, other } = await domains.addPair(project, given.host);
    const [shown, text] = await show(container, typed, given);
    if (!other) return [{ ...shown, pair: null }, text];
    const [pair, itsText] = await show(container, other, given);
    const { document } = await domains.showDomainSettings(project.id);
    return [{ ...shown, pair }, [text, itsText, redirectOf(other, typed, document)].join('\n\n')];
  },
);

const redirectOf = (
  from: CustomDomain,
  to: CustomDomain,
  { domains: { redirects } }: DomainSettingsDocument,
): string =>
  redirects.some((one) => one.from === from.host && one.to === to.host)
    ? `${nameInText(from)} redirects to ${nameInText(to)} as soon as both are live.`
    : `${nameInText(from)} does not redirect to ${nameInText(to)}, because another redirect leads to it.`;

type Step = (domains: Domains, domain: CustomDomain) => Promise<CustomDomain>;

const step = (description: string, take: Step) =>
  command(
    description,
    [new Argument('<host>', 'the domain'), ofProject],
    async (container, given: OfDomain & OutputOptions) => {
      const domains = container.get(DomainsKey);
      const { project } = await container.get(SitesKey).getSite(given.project);
      const domain = await domains.getDomain(project.id, given.host);
      return show(container, await take(domains, domain), given);
    },
  );

const show = async (
  container: Container,
  domain: CustomDomain,
  { project, json }: OfDomain & OutputOptions,
): Promise<readonly [value: object, text: string]> => {
  const domains = container.get(DomainsKey);
  const view = await domains.showDomain(domain);
  const timeline = json ? await domains.readWholeTimeline(domain) : [];
  return [
    { domain: presentDomain(domain, project), ...presentView(view, timeline) },
    describe(view, container.get(Clock).now()),
  ];
};

const describe = (view: DomainView, now: Date): string => {
  const { domain, records, problems, hints, contest, nextAt, budget } = view;
  const lines = [`${nameInText(domain)}: ${stateInWords(domain)}`];
  if (domain.state === 'removed') {
    lines.push(`Delete the DNS record of ${domain.host}: it points to nothing now.`);
    return lines.join('\n');
  }
  if (domain.state === 'live') {
    lines.push(`Certificate valid until ${domain.certificate.notAfter.toISOString()}.`);
  }
  const ready = readyInWords(domain, now);
  if (ready) lines.push(ready);
  if (contest !== undefined) lines.push(contest);
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

interface ListOptions extends OutputOptions {
  readonly project?: string;
}

interface ListedDomain {
  readonly domain: CustomDomain;
  readonly project: string;
}

/** A list shows only this many, because each check contains all its answers. */
const lastEntries = 5;

const domainList: Define = (command) => {
  command
    .description('list the domains of a project, newest first, or of all projects')
    .option('--project <slug>', 'slug of the project')
    .option(
      '--json',
      `print JSON: each as "show" does, with the last ${String(lastEntries)} entries of its timeline`,
    )
    .action(async (options: ListOptions) => {
      await withContainer(async (container) => {
        const listed = await listDomains(container, options.project);
        const details = options.json ? await present(container.get(DomainsKey), listed) : [];
        print(options, details, inColumns(listed));
      });
    });
};

const listDomains = async (
  container: Container,
  slug: string | undefined,
): Promise<readonly ListedDomain[]> => {
  const sites = container.get(SitesKey);
  const domains = container.get(DomainsKey);
  const projects =
    slug === undefined ? await allProjects(container) : [(await sites.getSite(slug)).project];
  const lists = await Promise.all(
    projects.map(async ({ id, slug: project }) =>
      (await domains.listDomains(id)).map((domain) => ({ domain, project })),
    ),
  );
  return lists.flat();
};

const allProjects = async (container: Container): Promise<readonly Project[]> => {
  const accounts = await container.get(AccessKey).listAccounts();
  const sites = container.get(SitesKey);
  return (await Promise.all(accounts.map(({ id }) => sites.listProjects(id)))).flat();
};

/** Presents one domain at a time, so that a long list does not slow down the service. */
const present = async (
  domains: Domains,
  listed: readonly ListedDomain[],
): Promise<readonly object[]> => {
  const presented: object[] = [];
  for (const { domain, project } of listed) {
    const view = await domains.showDomain(domain);
    const latest = view.timeline.entries.slice(0, lastEntries);
    presented.push({ ...presentDomain(domain, project), ...presentView(view, latest) });
  }
  return presented;
};

const inColumns = (listed: readonly ListedDomain[]): string => {
  const rows = listed.map(({ domain, project }) => [
    nameInText(domain),
    project,
    stateInWords(domain),
    domain.dns.report?.problems[0]?.code ?? '',
  ]);
  return table(['DOMAIN', 'PROJECT', 'STATE', 'PROBLEM'], rows, 'No domains yet.');
};

export const domainCommands = group('domain', 'add and check custom domains', {
  add,
  verify: step(
    'check the DNS of a domain now, or start a new attempt to get its certificate; exit code 0 even if there are problems',
    (domains, domain) => domains.verifyDomain(domain),
  ),
  show: step('show the records, problems, certificate and timeline of a domain', (_, domain) =>
    Promise.resolve(domain),
  ),
  remove: step('stop serving a domain at once', (domains, domain) => domains.removeDomain(domain)),
  share: domainShare,
  primary: domainPrimary,
  config: domainConfig,
  list: domainList,
});
