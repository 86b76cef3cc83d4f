import Router, { type RouterContext } from '@koa/router';
import type Koa from 'koa';
import type { Context, Middleware } from 'koa';
import type { Operation } from '../../access/domain/role.ts';
import type { DashboardUse } from '../../access/domain/session.ts';
import type { SignedIn } from '../../access/people-ports.ts';
import { newPasswordScreen, meScreen } from './me/screen.ts';
import { factorAppScreen, secondFactorScreen } from './me/second-factor.ts';
import { peopleScreen } from './account/people.ts';
import { auditScreen } from './account/audit-log.ts';
import { deletedScreen } from './account/deleted-screen.ts';
import { accountScreen } from './account/screen.ts';
import { addUnsubscribe } from './notices/mail.ts';
import { accountsScreen } from './sign-in/accounts-screen.ts';
import { animalScreen, animalsScreen } from './animals/animals-screens.ts';
import { importScreen } from './animals/import.ts';
import { orderScreen, ordersScreen } from './animals/orders-screens.ts';
import { redirect, sendEvents, wantsEvents } from './frame/responses.ts';
import type { DashboardPorts } from './ports.ts';
import { domainScreen, removeDomainScreen } from './domains/domain-screen.ts';
import { addSharedDomains } from './domains/shares.ts';
import { domainsScreen } from './domains/domains-screen.ts';
import { redirectsScreen } from './domains/redirects.ts';
import { removeSeveralScreen } from './domains/several.ts';
import { helpScreen } from './help/screen.ts';
import { requestLifecycle } from './request-lifecycle.ts';
import { keysScreen } from './keys/screen.ts';
import { type KeptForm, noteKept, type Refill } from './frame/sent-form.ts';
import { LiveStreams } from './frame/live-streams.ts';
import { overEvent } from './frame/live-viewer.ts';
import { factorPath, signInPathFor, withQuery } from './frame/paths.ts';
import { notFound, PageProblem } from './frame/page-problem.ts';
import { bellScreen, noticesScreen } from './notices/screen.ts';
import { deployScreen } from './projects/deploy-screen.ts';
import { projectScreen } from './projects/project-screen.ts';
import { settingsScreen } from './projects/settings-screen.ts';
import { projectsScreen } from './home/projects-screen.ts';
import { cookiesOf, networkOf, type SignInPorts, whoAsks } from './sign-in/session.ts';
import { addScreen, type ScreenPorts, type Wanted } from './screen-routes.ts';
import type { Screen } from './frame/screen.ts';
import { addProofs, showConfirmation, showFactorPage } from './sign-in/proof.ts';
import {
  addLinkRequests,
  addSignIn,
  addSignInLinks,
  hasContinued,
  showSignIn,
} from './sign-in/sign-in-page.ts';
import { searchScreen } from './search/screen.ts';
import { usageScreen } from './usage/screen.ts';
import { webhookScreen, webhooksScreen } from './webhooks/webhooks-screens.ts';

const screensOf = (
  ports: Parameters<typeof accountsScreen>[0] & DashboardPorts,
): readonly Screen[] => [
  domainsScreen(ports),
  domainScreen(ports),
  removeDomainScreen(ports),
  removeSeveralScreen(ports),
  redirectsScreen(ports),
  projectsScreen(ports),
  projectScreen(ports),
  deployScreen(ports),
  settingsScreen(ports),
  animalsScreen(ports),
  animalScreen(ports),
  // This comes after the animal's page, because the last matching route answers.
  importScreen(ports),
  ordersScreen(ports),
  orderScreen(ports),
  keysScreen(ports),
  webhooksScreen(ports),
  webhookScreen(ports),
  usageScreen(ports),
  accountScreen(ports),
  peopleScreen(ports),
  meScreen(ports),
  secondFactorScreen(ports),
  factorAppScreen(ports),
  deletedScreen(ports),
  auditScreen(ports),
  newPasswordScreen(ports),
  noticesScreen(ports),
  bellScreen(ports),
  searchScreen(ports),
  helpScreen(),
  accountsScreen(ports),
];

interface DashboardRoute {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation | undefined;
}

export interface Dashboard {
  /** Adds the dashboard to an application. It answers every request that reaches it. */
  readonly addTo: (app: Koa) => void;
  readonly close: () => void;
  readonly routes: readonly DashboardRoute[];
}

export const dashboard = (ports: DashboardPorts): Dashboard => {
  const cookies = cookiesOf(ports.settings.origin.startsWith('https:'));
  const live = new LiveStreams({
    ...ports,
    whoStillAsks: (ctx) => {
      const secret = cookies.session.read(ctx) ?? '';
      return () => ports.access.findSession(secret);
    },
    chance: Math.random,
  });
  // Each page has exactly one address, as in the API.
  const router = new Router({ exclusive: true, sensitive: true });
  router.get('/', (ctx: Context) => {
    redirect(ctx, '/dashboard');
  });
  const asking = whoAsks(ports, cookies);
  const refills = new Router({ exclusive: true, sensitive: true });
  const refill = refillBy(refills);
  const signInPorts: SignInPorts & DashboardPorts = {
    ...ports,
    cookies,
    whoAsks: asking,
    refill,
    // Only a page without a form can have an address, to which the back button may lead.
    showFactor: async (ctx, waiting, kept) => {
      const query = ctx.querystring;
      if (kept) await showFactorPage(ctx, waiting, signInPorts, { query, kept });
      else redirect(ctx, withQuery(factorPath, query));
    },
  };
  addSignIn(router, signInPorts);
  addLinkRequests(router, { ...ports, cookies });
  addUnsubscribe(router, ports);
  addSharedDomains(router, ports);
  addSignInLinks(router, signInPorts);
  addProofs(router, signInPorts);
  const signedIn = signingIn(signInPorts);
  const secretOf = (ctx: Context) => cookies.session.read(ctx) ?? '';
  const confirm: ScreenPorts['confirm'] = (ctx, signedIn, kept) =>
    showConfirmation(ctx, signedIn, signInPorts, {
      query: '',
      kept: kept && { ...kept, personId: signedIn.person.id },
    });
  const screenPorts = { ...ports, live, signedIn, secretOf, confirm };
  const waysBack = new Router({ sensitive: true });
  const operations = new Map<string, Operation>();
  const routers = { pages: router, refills, waysBack, operations };
  for (const screen of screensOf(signInPorts)) addScreen(routers, screen, screenPorts);

  const unknownPage: Middleware = (ctx) => {
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD' && ctx.method !== 'POST') {
      ctx.set('Allow', 'GET, HEAD, POST');
      throw new PageProblem(405, `Pages do not accept ${ctx.method}.`);
    }
    throw notFound();
  };
  return {
    addTo: (app) => {
      app.use(requestLifecycle({ ...ports, whoAsks: asking }));
      app.use(router.routes());
      app.use(waysBack.routes());
      app.use(unknownPage);
    },
    close: () => {
      live.close();
    },
    routes: router.stack.flatMap(({ methods, path }) =>
      methods.map((method) => {
        const operation = method === 'POST' ? operations.get(String(path)) : undefined;
        return { method, path: String(path), operation };
      }),
    ),
  };
};

/** Finds the signed-in person and enforces the limits. Redirects other visitors to the sign-in page, which leads back. */
const signingIn =
  (ports: SignInPorts) =>
  async (ctx: Context, { page, kept }: Wanted): Promise<SignedIn | undefined> => {
    const signedIn = await ports.whoAsks(ctx);
    if (signedIn) {
      await ports.access.admitUse(signedIn, useOf(ctx));
      await ports.access.noteSeen(signedIn, networkOf(ctx, ports));
    }
    // A redirect of a stream would have no visible effect. This event makes the browser reload the page, which
    // redirects.
    else if (wantsEvents(ctx)) sendEvents(ctx, overEvent);
    else if (kept && ctx.method === 'POST') await askAgain(ctx, page, kept(), ports);
    else redirect(ctx, signInPathFor(ctx.method === 'GET' ? ctx.url : page));
    return signedIn;
  };

const askAgain = async (
  ctx: Context,
  page: string,
  kept: KeptForm | undefined,
  ports: SignInPorts,
): Promise<void> => {
  if (await hasContinued(ctx, ports, kept)) return;
  const [, query = ''] = signInPathFor(page).split('?');
  await showSignIn(ctx, ports, { query, kept });
};

const refillBy =
  (refills: Router): Refill =>
  async (ctx, kept, then) => {
    const { url } = ctx;
    ctx.url = kept.url;
    noteKept(ctx, kept, then);
    await refills.routes()(ctx as RouterContext, () => {
      redirect(ctx, '/dashboard');
      return Promise.resolve();
    });
    ctx.url = url;
  };

const useOf = (ctx: Context): DashboardUse => {
  if (ctx.method === 'POST') return 'forms';
  return wantsEvents(ctx) ? 'streams' : 'pages';
};
