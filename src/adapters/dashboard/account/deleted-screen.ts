import * as v from 'valibot';
import type { Account } from '../../../access/domain/account.ts';
import { restorableUntil } from '../../../kernel/deletion.ts';
import type { Project } from '../../../sites/domain/project.ts';
import { buttonForm, field, formError } from '../frame/form-parts.ts';
import { html, type Html } from '../frame/html.ts';
import { rowList } from '../frame/list-parts.ts';
import { PageProblem } from '../frame/page-problem.ts';
import { type ColumnsOf, counted, empty, end, head, time } from '../frame/parts.ts';
import { accountDeleted, accountPath, deletedPath, signInPathFor } from '../frame/paths.ts';
import {
  bareForm,
  form,
  type Form,
  type Refusal,
  refusalOf,
  type Screen,
  type Visit,
} from '../frame/screen.ts';
import { filled } from '../frame/sent-form.ts';
import type { DashboardPorts } from '../ports.ts';

type Ports = Pick<DashboardPorts, 'access' | 'sites' | 'ids'>;

/** Lists deleted projects, or the deleted account that the person has signed in to, so that they can be restored. */
export const deletedScreen = (ports: Ports): Screen => ({
  path: deletedPath,
  section: 'account',
  live: false,
  isForDeleted: true,
  notices: {
    deleted: 'The project is deleted. You can restore it for 7 days.',
    restored: 'The project is restored. Its domains are served again once their DNS is checked.',
    'account-restored': 'The account is restored. Its sites are served again in a moment.',
  },
  show: async (visit, refusal) => {
    const { account } = visit.signedIn;
    if (account.deletedAt)
      return { title: 'Deleted account', content: deletedAccount(account, visit, refusal) };
    const deleted = await ports.sites.listDeletedProjects(visit.accountId);
    const content = html`
      ${head('Deleted projects', 'Deleted projects are not served. You can restore them for 7 days; after that they are permanently removed, with their deploys and domains.', { trail: [['Account', accountPath]] })}
      ${formError(refusalOf(refusal, 'restore-project'))}
      ${deleted.length === 0 ? nothingDeleted : rowList(deleted, Object.values(columns(visit, () => ports.ids.next('form'))))}`;
    return { title: 'Deleted projects', content };
  },
  forms: [restoringProject(ports), restoringAccount(ports)],
});

const nothingDeleted = empty('No deleted projects', 'A deleted project is listed here for 7 days.');

const columns = (
  { now, may }: Visit,
  newId: () => string,
): ColumnsOf<Project, 'id' | 'accountId' | 'createdAt'> => ({
  name: ['Project', 'name', ({ name }) => name],
  slug: ['Address', 'mono', ({ slug }) => slug],
  deletedAt: ['Deleted', 'extra', ({ deletedAt }) => deletedAt && time(deletedAt, now)],
  until: [
    'Can be restored until',
    'text',
    ({ deletedAt }) =>
      deletedAt && html`<span>until ${end(restorableUntil(deletedAt), now)}</span>`,
  ],
  actions: [
    'Actions',
    'actions',
    ({ slug, name }) =>
      may('project.restore') &&
      buttonForm(`${deletedPath}/${slug}/restore`, 'Restore', {
        about: `Restore ${name}`,
        once: newId(),
      }),
  ],
});

const deletedAccount = (
  { name, deletedAt = new Date(0) }: Account,
  { now, may }: Visit,
  refusal: Refusal | undefined,
): Html => html`
  ${head(`${name} is deleted`, html`It was deleted ${time(deletedAt, now)}. It can be restored until ${end(restorableUntil(deletedAt), now)}; after that everything is permanently removed.`)}
  <section class="card">
    ${formError(refusalOf(refusal, 'restore-account'))}
    <p>Restoring brings back its projects, domains, API keys, animals, orders and people as they were. Sites are served again once the DNS of their domains is checked. Webhooks get only events from then on.</p>
    ${may('account.restore') ? html`<form method="post" action="${accountPath}/restore" class="inline"><button class="main">Restore account</button></form>` : html`<p class="hint">Only an owner can restore it. Ask one of them.</p>`}
  </section>`;

const restoringProject = ({ sites }: Ports): Form =>
  bareForm({
    name: 'restore-project',
    operation: 'project.restore',
    path: `${deletedPath}/:slug/restore`,
    once: true,
    act: async ({ accountId, parameters: { slug = '' } }) => {
      await sites.restoreProject({ accountId, slug });
      return { to: deletedPath, done: 'restored' };
    },
  });

const restoringAccount = ({ access }: Ports): Form =>
  bareForm({
    name: 'restore-account',
    operation: 'account.restore',
    path: `${accountPath}/restore`,
    act: async ({ accountId }) => {
      await access.restoreAccount(accountId);
      return { to: deletedPath, done: 'account-restored' };
    },
  });

export const accountNameSection = (
  { name }: Account,
  visit: Visit,
  refusal: Refusal | undefined,
): Html => {
  const refused = refusalOf(refusal, 'rename-account');
  return html`<section class="card" aria-labelledby="account-name">
    <h2 id="account-name">Name</h2>
    ${
      visit.may('account.rename')
        ? html`<form method="post" action="${accountPath}/name" class="fields">
      ${formError(refused)}
      ${field({ label: 'Account name', name: 'name', value: name, maxlength: 100 }, refused)}
      <button>Rename</button>
    </form>`
        : html`<p>${name}</p>`
    }
  </section>`;
};

export const accountDeletion = (
  { name }: Account,
  { projects, people }: { readonly projects: number; readonly people: number },
  refusal: Refusal | undefined,
): Html => html`<section class="card" aria-labelledby="delete-account">
  <h2 id="delete-account">Delete this account</h2>
  <p>As soon as you delete it, its sites are no longer served and its API keys no longer work. Everybody is signed out. For 7 days an owner can sign in and restore it; after that, all of this is permanently removed:</p>
  <ul class="bullets">
    <li>${counted(projects, 'project')} with all deploys and custom domains,</li>
    <li>all animals, orders, API keys and webhooks, and the audit log,</li>
    <li>${counted(people, 'person', 'people')} who can sign in.</li>
  </ul>
  <form method="post" action="${accountPath}/delete" class="fields">
    ${formError(refusal)}
    ${field({ label: `Type ${name} to confirm`, name: 'confirmed', autocomplete: 'off', maxlength: 200 }, refusal)}
    <button class="danger">Delete account</button>
  </form>
</section>`;

export const renamingAccount = ({ access }: Pick<DashboardPorts, 'access'>): Form =>
  form({
    name: 'rename-account',
    operation: 'account.rename',
    path: `${accountPath}/name`,
    schema: v.object({ name: filled('Enter a name.') }),
    field: 'name',
    act: async ({ accountId }, { name }) => {
      await access.renameAccount(accountId, name);
      return { to: accountPath, done: 'renamed' };
    },
  });

export const deletingAccount = ({ access }: Pick<DashboardPorts, 'access'>): Form =>
  form({
    name: 'delete-account',
    operation: 'account.delete',
    path: `${accountPath}/delete`,
    schema: v.object({ confirmed: filled('Type the name of the account.') }),
    field: 'confirmed',
    act: async ({ signedIn: { account } }, { confirmed }) => {
      if (confirmed.trim() !== account.name)
        throw new PageProblem(422, `That is not ${account.name}. The account is not deleted.`);
      await access.deleteAccount(account.id);
      return { to: signInPathFor(deletedPath), done: accountDeleted };
    },
  });
