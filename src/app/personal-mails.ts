import {
  PersonalMails,
  type MailedLink,
  type PersonalMail as Asked,
} from '../access/mail-ports.ts';
import type * as NextPage from '../adapters/dashboard/frame/paths.ts';
import type { PersonalKind, Told } from '../notifications/domain/notification.ts';
import type { PersonalMail } from '../notifications/use-cases/mail.ts';

type MailPerson = (mail: PersonalMail) => Promise<boolean>;

/** The bridge to the queue of mails, which another context keeps. The secrets of links go there only. */
export class BridgedPersonalMails extends PersonalMails {
  readonly #mailPerson: MailPerson;

  constructor(mailPerson: MailPerson) {
    super();
    this.#mailPerson = mailPerson;
  }

  override async add(mail: Asked): Promise<void> {
    const { id, to } = mail;
    const { id: personId, accountId, email } = to.person;
    const paths = await import('../adapters/dashboard/frame/paths.ts');
    const isQueued = await this.#mailPerson({
      ...factsOf(mail, paths),
      ...{ id, accountId, personId, to: email },
    });
    if (!isQueued) throw new Error('no mail server is set');
  }
}

/** Loaded with the first mail: not every process needs pages. */
type Paths = Pick<typeof NextPage, 'mailedLinkPath' | 'newPasswordPath'>;
type Facts = Extract<Told, { readonly kind: PersonalKind }>;

const factsOf = (
  { reason, to, links, occurredAt }: Asked,
  { mailedLinkPath, newPasswordPath }: Paths,
): Facts => {
  const linkOf = ({ account, secret }: MailedLink, next?: string) => ({
    account: account.name,
    path: mailedLinkPath(secret, next),
  });
  const { email } = to.person;
  const [first] = links;
  if (reason === 'password_changed') {
    const about = { email, account: to.account.name, changedAt: occurredAt.toISOString() };
    return { kind: 'password.changed', about };
  }
  if (!first) throw new Error(`a mail for ${reason} has no link`);
  const until = first.endsAt.toISOString();
  if (reason === 'invitation') {
    return { kind: 'person.invited', about: { email, ...linkOf(first), until } };
  }
  const isForPassword = reason === 'new_password';
  const next = isForPassword ? newPasswordPath : undefined;
  const about = { email, links: links.map((one) => linkOf(one, next)), until, isForPassword };
  return { kind: 'sign_in.link', about };
};
