import type { Membership } from '../../../access/people-ports.ts';
import { planNames } from '../account/plan.ts';
import type { DashboardPorts } from '../frame/ports.ts';
import { enter, originOf } from './entering.ts';
import { html, nothing, type Html } from '../frame/html.ts';
import { pageAfterSignIn } from '../frame/next-page.ts';
import { badge } from '../frame/parts.ts';
import type { Cookies } from '../frame/protected-cookie.ts';
import type { Screen } from '../frame/screen.ts';

const accountsPath = '/dashboard/accounts';

/** @param query of the sign-in: it says where to go afterwards */
export const accountsPathFor = (query: string): string => accountsPath + (query && `?${query}`);

type Ports = Pick<DashboardPorts, 'access' | 'networkOf' | 'acting'>;

/** Which account to go on in, where one password opens several. */
export const accountsScreen = (ports: Ports, cookies: Cookies): Screen => ({
  path: accountsPath,
  section: 'account',
  live: false,
  show: async ({ signedIn, query }) => ({
    title: 'Choose an account',
    content: chooser(await ports.access.accountsOf(signedIn), query.toString()),
  }),
  others: [
    {
      method: 'POST',
      path: `${accountsPath}/:person`,
      answer: async ({ signedIn, parameters: { person = '' } }, ctx) => {
        if (person !== signedIn.person.id) {
          const origin = originOf(ctx, { ...ports, cookies });
          const session = await ports.access.switchAccount(signedIn, person, origin);
          await enter(ctx, session, { ...ports, cookies });
        }
        return { to: pageAfterSignIn(ctx.querystring) };
      },
    },
  ],
});

const chooser = (all: readonly Membership[], query: string): Html => html`
  <section class="card alone">
    <h1>Choose an account</h1>
    <p class="hint">Your password opens ${all.length === 1 ? 'this account' : `these ${all.length} accounts`}. To switch later, select the account’s name at the top of a page.</p>
    ${all.map((one, at) => choice(one, at === 0, query))}
  </section>`;

const choice = ({ person, account }: Membership, isOpen: boolean, query: string): Html => {
  const action = `${accountsPath}/${person.id}${query && `?${query}`}`;
  return html`<form method="post" action="${action}" class="row between">
    <span><strong>${account.name}</strong> <small>${planNames[account.plan]}</small> ${isOpen ? badge('open now', 'good') : nothing}</span>
    <button ${isOpen && html`class="main"`}>Open<span class="visually-hidden"> ${account.name}</span></button>
  </form>`;
};
