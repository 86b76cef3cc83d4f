import type {
  KindFacts,
  NotificationKind,
  OwnersKind,
  Responsible,
  NotificationContent,
} from './notification.ts';

type Links = KindFacts['sign_in.link'];

const restoring = (until: string): string =>
  `An owner can restore it until ${minute(until)}. After that it is permanently removed.`;

const whichAccount = ([first, ...others]: Links['links']): string =>
  others.length === 0
    ? `The link signs you in to ${first?.account ?? ''}.`
    : `The address belongs to ${others.length + 1} accounts, and each has a link of its own.`;

const actionOf = ({ account, path }: Links['links'][number], links: Links) => {
  const isAlone = links.links.length === 1;
  if (links.isForPassword) {
    return {
      path,
      text: isAlone ? 'Choose a new password' : `Choose a new password for ${account}`,
    };
  }
  return { path, text: isAlone ? 'Sign in' : `Sign in to ${account}` };
};

interface InWords<Facts> {
  readonly when: string;
  readonly tone: Tone;
  /** A sentence without a full stop. */
  readonly title: (about: Facts) => string;
  readonly text: (about: Facts) => string;
  readonly link: (about: Facts) => Link;
}

interface ForOwners<Facts> extends InWords<Facts> {
  readonly to: 'owners';
  /** A person gets at most one mail per kind and subject each day. */
  readonly subject: (about: Facts) => string;
  readonly isOwnDoing?: true;
  readonly isUrgent?: true;
}

/** Sent by mail to the person concerned. It cannot be switched off and has no limit. */
interface ForPerson<Facts> extends InWords<Facts> {
  readonly to: 'person';
  readonly others?: (about: Facts) => readonly Other[];
}

type Kind<Facts> = ForOwners<Facts> | ForPerson<Facts>;

type Tone = 'good' | 'busy' | 'bad' | 'idle';

interface Link {
  readonly path: string;
  readonly text: string;
}

export type KindTable = {
  readonly [Name in NotificationKind]: Name extends OwnersKind
    ? ForOwners<KindFacts[Name]>
    : ForPerson<KindFacts[Name]>;
};

interface Other {
  readonly title: string;
  readonly link: Link;
}

/** Written in words, because lines break after hyphens. */
const months = [
  ...['January', 'February', 'March', 'April', 'May', 'June', 'July'],
  ...['August', 'September', 'October', 'November', 'December'],
];

/** `1 March 2026, 10:00 UTC` @param iso ISO 8601, in UTC */
const minute = (iso: string): string => `${day(iso)}, ${iso.slice(11, 16)} UTC`;

const day = (iso: string): string =>
  `${Number(iso.slice(8, 10))} ${months[Number(iso.slice(5, 7)) - 1] ?? ''} ${iso.slice(0, 4)}`;

const dayBefore = (iso: string): string => day(new Date(Date.parse(iso) - 1).toISOString());

const amount = (number: number): string => number.toLocaleString('en');

const whoActs: Readonly<Record<Responsible, string>> = {
  customer: 'You need to act.',
  us: 'We act; you need not do anything.',
  nobody: '',
};

const projectPath = (project: string) => `/dashboard/projects/${project}`;
const domainsPath = (project: string) => `${projectPath(project)}/settings/domains`;
const domainLink = ({ project, host }: KindFacts['domain.live'], text = 'Show the domain') => ({
  path: `${domainsPath(project)}/${host}`,
  text,
});
const usageLink = (text = 'Show the usage') => ({ path: '/dashboard/usage', text });
const host = ({ host }: KindFacts['domain.live']) => host;
const dayOf = ({ resetsAt }: KindFacts['quota.warning']) => dayBefore(resetsAt);

export const kinds: KindTable = {
  'domain.live': {
    when: 'A custom domain went live.',
    to: 'owners',
    tone: 'good',
    subject: host,
    title: ({ name }) => `${name} is live`,
    text: () => 'Visitors reach your site under this name. We renew its certificate automatically.',
    link: domainLink,
  },
  'domain.removed': {
    when: 'Somebody in your account removed a custom domain.',
    to: 'owners',
    tone: 'idle',
    isOwnDoing: true,
    subject: host,
    title: ({ name }) => `${name} was removed`,
    text: () =>
      'It is no longer served. Delete its records at your DNS provider, if they still exist.',
    link: domainLink,
  },
  'domain.expired': {
    when: 'A custom domain was removed because its DNS was not correct for 30 days.',
    to: 'owners',
    tone: 'busy',
    subject: host,
    title: ({ name }) => `${name} was removed because its DNS was not correct for 30 days`,
    text: () => 'Add it again once you can create the DNS records.',
    link: ({ project }) => ({ path: domainsPath(project), text: 'Add it again' }),
  },
  'domain.contested': {
    when: 'Another account has proven that it owns the name of your custom domain, or a wildcard that covers it.',
    to: 'owners',
    tone: 'bad',
    isUrgent: true,
    // The mail about losing the name must not be suppressed as a repetition. A host is short enough for the extra
    // character.
    subject: ({ host, isTaken }) => (isTaken ? `${host}!` : host),
    title: ({ name, isTaken, wildcard = name }) =>
      isTaken
        ? `${name} was taken over by another account`
        : `Another account has proven that it owns ${wildcard}`,
    text: (about) => (about.isTaken ? taken(about) : stillWaits(about)),
    link: (about) => domainLink(about, about.isTaken ? 'Show the domain' : 'Show the records'),
  },
  'domain.unhealthy': {
    when: 'A live domain has led elsewhere for an hour.',
    to: 'owners',
    tone: 'bad',
    subject: host,
    title: ({ name }) => `${name} no longer leads to your site`,
    text: ({ title, fix }) => `${title}. ${fix}`,
    link: (about) => domainLink(about, 'See what to change'),
  },
  'domain.recovered': {
    when: 'A live domain leads to your site again.',
    to: 'owners',
    tone: 'good',
    subject: host,
    title: ({ name }) => `${name} leads to your site again`,
    text: () => 'Its DNS is correct.',
    link: domainLink,
  },
  'certificate.failing': {
    when: 'Three attempts to get a certificate failed, or the current one expires soon; repeated every third day.',
    to: 'owners',
    tone: 'bad',
    subject: host,
    title: ({ name, expiresAt }) =>
      expiresAt === undefined
        ? `${name} has no certificate yet`
        : `The certificate of ${name} could not be renewed`,
    text: ({ title, fix, actor, expiresAt }) =>
      [
        `${title}.`,
        whoActs[actor],
        fix,
        expiresAt === undefined
          ? 'The domain goes live as soon as it has one.'
          : `The current certificate ends on ${minute(expiresAt)}. After that, browsers refuse the site.`,
      ]
        .filter((sentence) => sentence !== '')
        .join(' '),
    link: (about) => domainLink(about, 'See what to change'),
  },
  'certificate.recovered': {
    when: 'A certificate was issued after failures.',
    to: 'owners',
    tone: 'good',
    subject: host,
    title: ({ name }) => `${name} has a new certificate`,
    text: ({ expiresAt }) =>
      `It is valid until ${minute(expiresAt)}, and we renew it automatically.`,
    link: domainLink,
  },
  'project.deleted': {
    when: 'Somebody in your account deleted a project.',
    to: 'owners',
    tone: 'idle',
    isOwnDoing: true,
    subject: ({ project }) => project,
    title: ({ name }) => `The project ${name} was deleted`,
    text: ({ until }) => `It is no longer served. ${restoring(until)}`,
    link: () => ({ path: '/dashboard/account/deleted', text: 'Show deleted projects' }),
  },
  'deploy.failed': {
    when: 'A deploy that was not uploaded on the project page failed.',
    to: 'owners',
    tone: 'bad',
    subject: ({ project }) => project,
    title: ({ project, number }) => `Deploy ${number} of ${project} failed`,
    text: ({ explanation }) => `${explanation} What visitors see does not change.`,
    link: ({ project }) => ({ path: projectPath(project), text: 'Show the deploys' }),
  },
  'key.banned': {
    when: 'An API key was banned.',
    to: 'owners',
    tone: 'bad',
    subject: ({ keyId }) => keyId,
    title: ({ name }) => `The API key ${name} was banned for a while`,
    text: ({ until }) =>
      `It kept calling after its requests were refused. Until ${minute(until)} we refuse all its requests. Slow down the client that uses it. You can lift the ban early.`,
    link: () => ({ path: '/dashboard/keys', text: 'Lift the ban' }),
  },
  'quota.warning': {
    when: "Your account has used 80 % of the day's requests; at most once a day.",
    to: 'owners',
    tone: 'busy',
    subject: dayOf,
    title: ({ resetsAt }) => `80 % of the requests of ${dayBefore(resetsAt)} are used`,
    text: ({ used, limit, resetsAt }) =>
      `${amount(used)} of ${amount(limit)} are used. The count starts again at ${minute(resetsAt)}.`,
    link: () => usageLink(),
  },
  'quota.reached': {
    when: "Your account has used all of the day's requests; at most once a day.",
    to: 'owners',
    tone: 'bad',
    subject: dayOf,
    title: ({ resetsAt }) => `All requests of ${dayBefore(resetsAt)} are used`,
    text: ({ limit, resetsAt }) =>
      `Your plan has ${amount(limit)} a day. We refuse further requests until ${minute(resetsAt)}. A larger plan allows more.`,
    link: () => usageLink(),
  },
  'operation.removal': {
    when: 'An operation of the API will be removed in 90, 30, 7 or 1 days, and you still call it.',
    to: 'owners',
    tone: 'busy',
    subject: ({ operation }) => operation,
    title: ({ operation, days }) =>
      `The operation ${operation} will be removed ${days === 1 ? 'within a day' : `in ${days} days`}`,
    text: ({ removedAt }) =>
      `Your API keys still call it. From ${day(removedAt)} on, it answers 410.`,
    link: () => usageLink('See which keys call it'),
  },
  'webhook.off': {
    when: 'A webhook was switched off because its receiver answered 410 Gone, or failed for five days.',
    to: 'owners',
    tone: 'bad',
    subject: ({ webhookId }) => webhookId,
    title: ({ receiver }) => `The webhook to ${receiver} was switched off`,
    text: ({ reason }) =>
      `${reason === 'gone' ? 'It answered 410 Gone.' : 'All attempts failed for five days.'} We no longer call it. Switch the webhook on again once its receiver works.`,
    link: ({ webhookId }) => ({
      path: `/dashboard/webhooks/${webhookId}`,
      text: 'See what it answered',
    }),
  },
  'person.invited': {
    when: 'You are invited to an account.',
    to: 'person',
    tone: 'idle',
    title: ({ account }) => `You are invited to ${account}`,
    text: ({ account, email, until, role }) =>
      `You can sign in to the dashboard of ${account} as ${email}. Your role is ${role}. The link works once, until ${minute(until)}. If you do not know the account, ignore this mail.`,
    link: ({ path }) => ({ path, text: 'Accept the invitation' }),
  },
  'sign_in.link': {
    when: 'Somebody asked for a link for you on the sign-in page.',
    to: 'person',
    tone: 'idle',
    title: ({ isForPassword, links }) =>
      isForPassword
        ? 'Choose a new password'
        : `Your sign-in ${links.length > 1 ? 'links' : 'link'}`,
    text: ({ email, links, until, isForPassword }) =>
      [
        `Somebody asked for this on our sign-in page for ${email}.`,
        whichAccount(links),
        isForPassword && 'Then you can choose a new password.',
        `${links.length > 1 ? 'Each link works once' : 'The link works once'}, until ${minute(until)}.`,
        `If it was not you, ignore this mail: ${isForPassword ? 'your password stays as it is' : 'nothing happens'}.`,
      ]
        .filter((sentence) => sentence !== false)
        .join(' '),
    link: (about) => {
      const [first] = about.links;
      if (!first) throw new Error('a mail with links has none');
      return actionOf(first, about);
    },
    others: (about) =>
      about.links.slice(1).map((one) => ({ title: one.account, link: actionOf(one, about) })),
  },
  'password.changed': {
    when: 'Your password was changed.',
    to: 'person',
    tone: 'busy',
    title: () => 'Your password was changed',
    text: ({ email, account, changedAt }) =>
      `The password of ${email} for ${account} was changed on ${minute(changedAt)}. If that was you, you need not do anything. If not, choose a new password at once: it ends all other sessions and all sign-in links. Then look at the audit log of the account.`,
    link: () => ({ path: '/dashboard/forgot-password', text: 'Choose a new password' }),
  },
  'second_factor.changed': {
    when: 'Your second factor was changed, or a recovery code was used.',
    to: 'person',
    tone: 'busy',
    title: () => 'Your second factor was changed',
    text: ({ email, account, changedAt }) =>
      `The second factor of ${email} for ${account} was added, removed or reset, or a recovery code was used, on ${minute(changedAt)}. If that was you, or you asked the operator for it, you need not do anything. If not, choose a new password at once: it ends all other sessions. Then look at your second factor and at the audit log of the account.`,
    link: () => ({ path: '/dashboard/me/second-factor', text: 'Look at your second factor' }),
  },
  'account.deleted': {
    when: 'Your account was deleted.',
    to: 'person',
    tone: 'bad',
    title: ({ account }) => `The account ${account} was deleted`,
    text: ({ until }) =>
      `Its sites are no longer served, and its API keys no longer work. ${restoring(until)}`,
    link: () => ({ path: '/dashboard/account/deleted', text: 'Restore the account' }),
  },
};

export const ownersKinds: readonly OwnersKind[] = Object.entries(kinds).flatMap(([kind, { to }]) =>
  to === 'owners' ? [kind as OwnersKind] : [],
);

export const ownDoings: readonly OwnersKind[] = ownersKinds.filter((kind) => {
  const { isOwnDoing = false } = kinds[kind];
  return isOwnDoing;
});

export const isKind = (word: string): word is NotificationKind => Object.hasOwn(kinds, word);

export interface Wording {
  readonly tone: Tone;
  readonly title: string;
  readonly text: string;
  readonly link: Link;
  readonly others: readonly Other[];
}

export const inWords = <Name extends NotificationKind>({
  kind,
  about,
}: Extract<NotificationContent, { kind: Name }>): Wording => {
  const row = kinds[kind] as Kind<typeof about>;
  return {
    tone: row.tone,
    title: row.title(about),
    text: row.text(about),
    link: row.link(about),
    others: row.to === 'person' ? (row.others?.(about) ?? []) : [],
  };
};

export const isUrgent = (kind: NotificationKind): boolean => {
  const row: Kind<never> = kinds[kind];
  return row.to === 'person' || row.isUrgent === true;
};

export const subjectOf = <Name extends NotificationKind>({
  kind,
  about,
}: Extract<NotificationContent, { kind: Name }>): string | undefined => {
  const row = kinds[kind] as Kind<typeof about>;
  return row.to === 'owners' ? row.subject(about) : undefined;
};

type Contested = KindFacts['domain.contested'];

const taken = ({ proof }: Contested): string =>
  `The other account proved by a DNS record that it owns the name, so your site is no longer served under it. If the name is yours, check who can change its DNS. Then add it again, and create ${proof}.`;

/** A proof for a name below another account's wildcard takes only that name. */
const stillWaits = ({ name, proof, wildcard }: Contested): string => {
  const [why, then] =
    wildcard === undefined
      ? ['', 'you take the name over']
      : [`${wildcard} covers ${name}. `, 'it goes live, and the wildcard no longer answers for it'];
  return `${why}Your domain still waits, but the record that leads here is not enough. If the name is yours, create ${proof} too: then ${then}. If it is not yours, remove the domain.`;
};
