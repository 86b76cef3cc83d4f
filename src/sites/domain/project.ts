import { type Decision, DomainError } from '../../kernel/decision.ts';
import type { Deletable } from '../../kernel/deletion.ts';
import { isName } from '../../kernel/text.ts';
import type { SitesErrorCode } from './sites-error.ts';
import type { SitesEvent } from './sites-event.ts';

/** Hosts below the platform host that visitors or mail programs could take for the platform itself. */
const reserved: ReadonlySet<string> = new Set([
  ...['www', 'web', 'app', 'apps', 'api', 'dashboard', 'console', 'panel', 'platform', 'sites'],
  ...['admin', 'administrator', 'root', 'system', 'internal', 'staff', 'operator', 'edge'],
  ...['account', 'accounts', 'login', 'sign-in', 'signin', 'signup', 'auth', 'oauth', 'sso', 'id'],
  ...['billing', 'payment', 'payments', 'pay', 'checkout', 'security', 'secure', 'abuse', 'legal'],
  ...['status', 'support', 'help', 'docs', 'health', 'healthz', 'readyz', 'metrics', 'localhost'],
  ...['static', 'assets', 'cdn', 'media', 'files', 'uploads', 'images', 'img'],
  ...['mail', 'email', 'webmail', 'smtp', 'imap', 'pop', 'pop3', 'mx', 'ns', 'dns', 'ftp', 'sftp'],
  ...['postmaster', 'hostmaster', 'webmaster', 'noreply', 'autoconfig', 'autodiscover', 'wpad'],
  ...['isatap', 'acme', 'well-known', 'animal-store', 'animalstore'],
]);

const numbered = /^(?:www|ns|dns|mx|smtp|imap|cdn|api)\d{1,3}$/;

/** CNAME targets of custom domains. */
const target = /^t-[0-9a-f]{32}$/;

export const isReservedSlug = (slug: string): boolean =>
  reserved.has(slug) || numbered.test(slug) || target.test(slug);

export interface Project extends Deletable {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  /** One DNS label, unique over all accounts: the site's name below the platform host. */
  readonly slug: string;
  readonly createdAt: Date;
}

/** Leaves room in a DNS label (63 characters) for the number of a deploy, or the number that makes the slug unique. */
export const longestSlug = 48;
const longestName = 100;

/** "Zoë's Birds!" becomes `zoes-birds`; a name without Latin letters or digits becomes `site`. */
export const slugOf = (name: string): string =>
  name
    .trim()
    // A longer name is refused anyway, and long runs of accents take long to normalise.
    .slice(0, 2 * longestName)
    .normalize('NFKD')
    .replace(/[\p{M}'’]/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, longestSlug)
    .replace(/^-|-$/g, '') || 'site';

/** @param current the account's number of projects @throws DomainError `project_limit_reached` */
export const admitProject = (
  { plan, projects }: Pick<Allowance, 'plan' | 'projects'>,
  current: number,
): void => {
  if (current < projects) return;
  throw new DomainError<SitesErrorCode>(
    'project_limit_reached',
    `The plan ${plan} has room for ${String(projects)} projects, and your account has ${String(current)}. ` +
      'Change the plan to start another one.',
  );
};

/** @throws DomainError `project_invalid`, `slug_reserved` */
export const createProject = (
  draft: Omit<Project, 'createdAt' | 'deletedAt'>,
  now: Date,
): Decision<Project, SitesEvent> => {
  const name = projectName(draft.name);
  const { id: projectId, accountId, slug } = draft;
  refuseReserved(slug);
  return {
    state: { ...draft, name, createdAt: now, deletedAt: undefined },
    events: [{ type: 'project_created', accountId, occurredAt: now, projectId, slug }],
  };
};

/** @throws DomainError `project_invalid` */
export const projectName = (raw: string): string => {
  const name = raw.trim();
  if (isName(name, longestName)) return name;
  throw new DomainError<SitesErrorCode>(
    'project_invalid',
    `A project needs a name of 1 to ${String(longestName)} characters, without control characters and direction marks.`,
  );
};

/** @throws DomainError `slug_reserved` */
export const refuseReserved = (slug: string): void => {
  if (!isReservedSlug(slug)) return;
  throw new DomainError<SitesErrorCode>(
    'slug_reserved',
    `The name "${slug}" is reserved: its address could be mistaken for one of this service. Choose another.`,
  );
};

export interface Allowance {
  readonly plan: string;
  readonly projects: number;
  /** All kept deploys together, unpacked. */
  readonly storedBytes: number;
  readonly domains: number;
  /** Counts removed domains too, because each could have cost a certificate. */
  readonly domainsAddedPerHour: number;
  /** Whether a domain may be a wildcard, such as `*.shop.example.com`. */
  readonly hasWildcards: boolean;
}

export const gib = 1024 ** 3;

/** The values for enterprise are the defaults for accounts without custom limits. */
export const planAllowances = {
  free: {
    plan: 'Free',
    projects: 3,
    storedBytes: gib,
    domains: 0,
    domainsAddedPerHour: 0,
    hasWildcards: false,
  },
  pro: {
    plan: 'Pro',
    projects: 20,
    storedBytes: 10 * gib,
    domains: 5,
    domainsAddedPerHour: 20,
    hasWildcards: false,
  },
  business: {
    plan: 'Business',
    projects: 100,
    storedBytes: 100 * gib,
    domains: 25,
    domainsAddedPerHour: 60,
    hasWildcards: true,
  },
  enterprise: {
    plan: 'Enterprise',
    projects: 1000,
    storedBytes: 1000 * gib,
    domains: 1000,
    domainsAddedPerHour: 240,
    hasWildcards: true,
  },
} as const satisfies Readonly<Record<string, Allowance>>;
