import type { Context } from 'koa';
import type { Membership, SignedIn } from '../../../access/people-ports.ts';
import { html, type Html, nothing } from '../frame/html.ts';
import { layout } from '../frame/layout.ts';
import { badge, planNames } from '../frame/parts.ts';
import { pageAfterSignIn, withQuery } from '../frame/paths.ts';
import { redirect, sendHtml } from '../frame/responses.ts';
import type { Screen } from '../frame/screen.ts';
import { type KeptForm, keptInput, readForm, readKept, type Refill } from '../frame/sent-form.ts';
import type { DashboardPorts } from '../ports.ts';
import { type Cookies, type ShowFactor, startSession, originOf } from './session.ts';

const accountsPath = '/dashboard/accounts';

type Ports = Pick<DashboardPorts, 'access' | 'networkOf' | 'acting' | 'deadline'> & {
  readonly cookies: Cookies;
  readonly refill: Refill;
  readonly showFactor: ShowFactor;
};

export const sendAccountChooser = async (
  ctx: Context,
  signedIn: SignedIn,
  kept: KeptForm | undefined,
  { access }: Pick<Ports, 'access'>,
): Promise<void> => {
  if (!kept) {
    redirect(ctx, withQuery(accountsPath, ctx.querystring));
    return;
  }
  const content = chooser(await access.accountsOf(signedIn), ctx.querystring, kept);
  const frame = { section: 'account', signedIn, unread: 0 } as const;
  await sendHtml(ctx, 200, layout({ title, content }, frame));
};

const title = 'Choose an account';

export const accountsScreen = (ports: Ports): Screen => ({
  path: accountsPath,
  section: 'account',
  live: false,
  isForSetUp: true,
  isForDeleted: true,
  show: async ({ signedIn, query }) => ({
    title,
    content: chooser(await ports.access.accountsOf(signedIn), query.toString()),
  }),
  others: [
    {
      method: 'POST',
      path: `${accountsPath}/:person`,
      operation: 'me.change',
      answer: async ({ signedIn, parameters: { person = '' } }, ctx) => {
        const kept = readKept(await readForm(ctx, ports));
        if (person !== signedIn.person.id) {
          const session = await ports.access.switchAccount(signedIn, person, originOf(ctx, ports));
          const started = await startSession(ctx, session, ports);
          if (started.kind === 'waits') {
            await ports.showFactor(ctx, started.waiting, kept);
            return undefined;
          }
        }
        if (kept) {
          await ports.refill(ctx, kept);
          return undefined;
        }
        return { to: pageAfterSignIn(ctx.querystring) };
      },
    },
  ],
});

const chooser = (all: readonly Membership[], query: string, kept?: KeptForm): Html => html`
  <section class="card alone">
    <h1>Choose an account</h1>
    <p class="hint">Your password opens ${all.length === 1 ? 'this account' : `these ${all.length} accounts`}. To switch later, select the account’s name at the top of a page.</p>
    ${all.map((one, at) => choice(one, at === 0, { query, kept }))}
  </section>`;

const choice = (
  { person, account }: Membership,
  isOpen: boolean,
  { query, kept }: { readonly query: string; readonly kept: KeptForm | undefined },
): Html => {
  const action = withQuery(`${accountsPath}/${person.id}`, query);
  return html`<form method="post" action="${action}" class="row between">
    ${keptInput(kept)}
    <span><strong>${account.name}</strong> <small>${planNames[account.plan]}</small> ${isOpen ? badge('open now', 'good') : nothing} ${account.deletedAt && badge('deleted', 'bad')}</span>
    <button ${isOpen && html`class="main"`}>Open<span class="visually-hidden"> ${account.name}</span></button>
  </form>`;
};
