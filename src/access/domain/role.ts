/** What a person may do in an account. Each role may do everything that the next role in the list may. */
export const roles = ['owner', 'editor', 'viewer'] as const;
export type Role = (typeof roles)[number];

export const roleWords: Readonly<Record<Role, string>> = {
  owner: 'everything',
  editor: 'projects, domains, deploys, animals and orders',
  viewer: 'reads everything, changes nothing',
};

export const aRole = (role: Role): string => (role === 'viewer' ? 'a viewer' : `an ${role}`);

interface Rule {
  /** Completes the sentence "may …". */
  readonly does: string;
  /** The least powerful role that may do it. */
  readonly by: Role;
  /** Whether the person must prove their identity again, unless they did so within `provenMs`. */
  readonly again: boolean;
}

const by =
  (least: Role, again = false) =>
  (does: string): Rule => ({ does, by: least, again });

const [viewer, editor, owner] = [by('viewer'), by('editor'), by('owner')];
/** For deletions, roles and secrets. */
const provenOwner = by('owner', true);

/** All changes that pages offer, and the roles that may make them. Every role may read everything. */
const rules = {
  'project.create': editor('create a project'),
  'project.rename': editor('rename a project, and change its address'),
  'project.delete': provenOwner('delete a project'),
  'project.restore': owner('restore a deleted project'),
  'deploy.upload': editor('deploy'),
  'deploy.use': editor('choose which deploy is served'),
  'deploy.delete': editor('delete a deploy'),
  'domain.add': editor('add a domain'),
  'domain.verify': editor('verify a domain'),
  'domain.configure': editor('change redirects, the primary domain and the configuration'),
  'domain.share': editor('create and revoke links to the DNS records of a domain'),
  'domain.remove': editor('remove a domain'),
  'animal.add': editor('add an animal'),
  'animal.change': editor('edit, reserve, release and sell an animal'),
  'animal.delete': editor('delete an animal'),
  'order.change': editor('approve and deliver an order'),
  'key.create': provenOwner('create an API key'),
  'key.rotate': provenOwner('rotate an API key'),
  'key.revoke': owner('revoke an API key'),
  'key.unban': owner('lift the ban of an API key'),
  'webhook.add': provenOwner('add a webhook'),
  'webhook.rotate': provenOwner('rotate the secret of a webhook'),
  'webhook.change': owner('change, test and switch a webhook, and send a delivery again'),
  'webhook.remove': owner('remove a webhook'),
  'account.rename': owner('rename the account'),
  'account.delete': provenOwner('delete the account'),
  'account.restore': owner('restore the deleted account'),
  'person.invite': provenOwner('invite somebody, and create another link for them'),
  'person.change_role': provenOwner('change the role of somebody'),
  'person.remove': provenOwner('remove somebody'),
  'account.demand_factor': provenOwner(
    'require a second factor of everybody, or stop requiring it',
  ),
  'me.leave': by('viewer', true)('leave the account'),
  'me.change': viewer('change what concerns only themselves: name, password, mails, notices'),
  'me.change_factor': by('viewer', true)('change their own second factor'),
  'me.end_session': viewer('end their own sessions'),
  'me.make_link': by('viewer', true)('create a sign-in link for themselves'),
} as const satisfies Readonly<Record<string, Rule>>;

export type Operation = keyof typeof rules;
export const operations: Readonly<Record<Operation, Rule>> = rules;

export const mayDo = (role: Role, operation: Operation): boolean =>
  roles.indexOf(role) <= roles.indexOf(operations[operation].by);
