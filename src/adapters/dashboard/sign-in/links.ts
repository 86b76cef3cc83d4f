import type Router from '@koa/router';
import type { Context } from 'koa';
import { DomainError } from '../../../kernel/domain-error.ts';
import { sendHtml } from '../frame/answering.ts';
import { enter, originOf, type SignInPorts } from './entering.ts';
import { layout } from '../frame/layout.ts';
import { signInPath } from '../frame/next-page.ts';
import { isFromElsewhere } from '../frame/same-origin.ts';
import { linkPage } from './link-page.ts';
import { goOn, showRefusal } from './pages.ts';

const path = `${signInPath}/:token`;

/**
 * One-time links. A link signs in immediately only if no one is signed in and no other site led to it: otherwise an
 * attacker could sign a person in to an account that they did not choose. In that case a page asks first, which does
 * not use up the link.
 */
export const addSignInLinks = (router: Router, ports: SignInPorts): void => {
  const { origin } = ports.settings;

  router.get(path, async (ctx: Context) => {
    // HEAD, as mail programs send it, does not use up the link.
    if (ctx.method === 'HEAD') return void (ctx.status = 200);
    const asks = isFromElsewhere(ctx, origin) || (await ports.whoAsks(ctx)) !== undefined;
    await (asks ? ask(ctx, ports) : signIn(ctx, ports));
  });

  router.post(path, (ctx: Context) => signIn(ctx, ports));
};

const tokenOf = (ctx: Context): string =>
  (ctx['params'] as Readonly<Record<string, string>>)['token'] ?? '';

const signIn = async (ctx: Context, ports: SignInPorts): Promise<void> => {
  try {
    const session = await ports.access.signInByLink(tokenOf(ctx), originOf(ctx, ports));
    await enter(ctx, session, ports);
    goOn(ctx);
  } catch (error) {
    await refuse(ctx, error, ports);
  }
};

const ask = async (ctx: Context, ports: SignInPorts): Promise<void> => {
  try {
    const wanted = await ports.access.lookBehindLink(tokenOf(ctx), originOf(ctx, ports));
    const page = linkPage(wanted, await ports.whoAsks(ctx), ctx.url);
    await sendHtml(ctx, 200, layout(page, { section: undefined, signedIn: undefined }));
  } catch (error) {
    await refuse(ctx, error, ports);
  }
};

/** The person whom it signed in opened it again: just show the dashboard. */
const refuse = async (ctx: Context, error: unknown, { whoAsks }: SignInPorts): Promise<void> => {
  if (error instanceof DomainError && (await whoAsks(ctx))) goOn(ctx);
  else await showRefusal(ctx, error, {});
};
