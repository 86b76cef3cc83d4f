import { Argument } from 'commander';
import type { Container } from 'inversify';
import { shareDays, type DomainShare } from '../../domains/domain/attachment/share.ts';
import type { CustomDomain } from '../../domains/domain/attachment/custom-domain.ts';
import type { MadeShare } from '../../domains/use-cases/show-domain.ts';
import type { EveryField } from '../../kernel/decision.ts';
import { sharedPath } from '../../adapters/dashboard/frame/paths.ts';
import { ConfigKey, DomainsKey, SitesKey } from '../keys.ts';
import { dashboardOrigin } from '../settings/addresses.ts';
import { hostInWords } from './present-domain.ts';
import { command, ofProject, option, table, type Answer } from './run-command.ts';

interface ShareGiven {
  readonly host: string;
  readonly project: string;
  readonly list?: boolean;
  readonly end?: string;
}

/** Links to the page of a domain for somebody who is not signed in. */
export const domainShare = command(
  `make a link to the DNS records and state of a domain, for somebody without an account; it works for ${String(shareDays)} days and is shown once`,
  [
    new Argument('<host>', 'the domain'),
    ofProject,
    option('--list', 'list the links that work instead').conflicts('end'),
    option('--end <id>', 'end a link instead'),
  ],
  async (container, given: ShareGiven): Promise<Answer> => {
    const domains = container.get(DomainsKey);
    const { project } = await container.get(SitesKey).getSite(given.project);
    const domain = await domains.getDomain(project.id, given.host);
    if (given.list) return listed(await domains.listShares(domain));
    if (given.end !== undefined) return end(container, domain, given.end);
    return made(container, domain, await domains.makeShare(domain));
  },
);

const made = (container: Container, domain: CustomDomain, share: MadeShare): Answer => {
  const url = `${dashboardOrigin(container.get(ConfigKey))}${sharedPath(share.secret)}`;
  return [
    { ...presentShare(share), url },
    `Link ${share.id} to the records and state of ${hostInWords(domain)}, shown this once; it works until ${share.endsAt.toISOString()}:\n  ${url}`,
  ];
};

const end = async (container: Container, domain: CustomDomain, id: string): Promise<Answer> => {
  const domains = container.get(DomainsKey);
  const ended = (await domains.listShares(domain)).find((one) => one.id === id);
  if (!ended) throw new Error(`${hostInWords(domain)} has no link ${id} that works.`);
  await domains.revokeShare(domain, id);
  return [presentShare(ended), `Link ${id} no longer works.`];
};

const listed = (shares: readonly DomainShare[]): Answer => [
  shares.map(presentShare),
  table(
    ['ID', 'MADE', 'WORKS UNTIL'],
    shares.map(({ id, createdAt, endsAt }) => [id, createdAt.toISOString(), endsAt.toISOString()]),
    'No links to this domain work.',
  ),
];

/** Without its secret. */
const presentShare = ({ id, accountId, domainId, createdAt, endsAt }: DomainShare) =>
  ({ id, accountId, domainId, createdAt, endsAt }) satisfies EveryField<DomainShare>;
