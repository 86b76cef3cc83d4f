import type { PersonalKindTable } from './kind.ts';
import type { KindFacts } from './notification.ts';
import { minute } from './words.ts';

type Links = KindFacts['sign_in.link'];

/** What single people are told, by mail only. */
export const personalKinds: PersonalKindTable = {
  'person.invited': {
    ...{ when: 'You are invited to an account.', to: 'person', tone: 'idle' },
    title: ({ account }) => `You are invited to ${account}`,
    text: ({ account, email, until }) =>
      `You can sign in to the dashboard of ${account} as ${email}. The link works once, until ${minute(until)}. If you do not know the account, ignore this mail.`,
    link: ({ path }) => ({ path, text: 'Accept the invitation' }),
  },
  'sign_in.link': {
    ...{
      when: 'Somebody asked for a link for you on the sign-in page.',
      to: 'person',
      tone: 'idle',
    },
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
    ...{ when: 'Your password was changed.', to: 'person', tone: 'busy' },
    title: () => 'Your password was changed',
    text: ({ email, account, changedAt }) =>
      `The password of ${email} for ${account} was changed on ${minute(changedAt)}. If that was you, you need to do nothing. If not, choose a new password at once: it ends all other sessions and all sign-in links. Then look at the audit log of the account.`,
    link: () => ({ path: '/dashboard/forgot-password', text: 'Choose a new password' }),
  },
};

const whichAccount = ([first, ...others]: Links['links']): string =>
  others.length === 0
    ? `The link signs you in to ${first?.account ?? ''}.`
    : `The address belongs to ${others.length + 1} accounts, and each has a link of its own.`;

/** Where there are several, each says to which account it leads. */
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
