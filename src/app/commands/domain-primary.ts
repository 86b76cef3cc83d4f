import { Argument } from 'commander';
import { DomainsKey, SitesKey } from '../keys.ts';
import { command, ofProject, option, type Answer, type Define } from './run-command.ts';

interface PrimaryGiven {
  readonly host?: string;
  readonly project: string;
  readonly none?: boolean;
}

const choose = command(
  'print the primary domain of a project, or choose it',
  [
    new Argument('[host]', 'the domain that becomes the primary one'),
    ofProject,
    option('--none', 'choose that the project has none'),
  ],
  async (container, { host, project: slug, none }: PrimaryGiven): Promise<Answer> => {
    const domains = container.get(DomainsKey);
    const { id } = (await container.get(SitesKey).getSite(slug)).project;
    const chosen = none ? null : host;
    const { document, isPrimaryOpen } =
      chosen === undefined
        ? await domains.showDomainSettings(id)
        : await domains.choosePrimary(id, chosen);
    const primary = document.domains.primary ?? null;
    return [{ primary }, inWords(primary, isPrimaryOpen)];
  },
);

/** The main domain alone: `domain config` has it with the redirects. */
export const domainPrimary: Define = (defined) => {
  choose(defined);
  defined.hook('preAction', () => {
    const [host] = defined.args;
    // Such as from a variable that is not set: it would choose none.
    if (host === '') defined.error('error: the domain is empty; --none chooses none');
    if (host !== undefined && defined.opts<PrimaryGiven>().none === true) {
      defined.error('error: give a domain or --none, not both');
    }
  });
};

const inWords = (primary: string | null, isOpen: boolean): string => {
  if (primary !== null) return primary;
  return isOpen
    ? 'None yet: the first domain that goes live becomes it.'
    : 'None, as was chosen: no domain becomes it by itself.';
};
