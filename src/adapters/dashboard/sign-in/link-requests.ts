import type Router from '@koa/router';
import type { Context } from 'koa';
import * as v from 'valibot';
import { mailLimits, type WantedLink } from '../../../access/domain/mail-request.ts';
import { mailedLinkMs } from '../../../access/domain/session.ts';
import { inWords } from '../../../kernel/text.ts';
import { checkForm, readForm } from '../frame/form-body.ts';
import { field, formError } from '../frame/form-parts.ts';
import { html, type Html } from '../frame/html.ts';
import { keptAlone, keptInput, readKept, wayWith, type KeptForm } from '../frame/kept-form.ts';
import { nextIn, signInPath, withQuery } from '../frame/next-page.ts';
import type { Refusal } from '../frame/screen.ts';
import { originOf, type SignInPorts } from './entering.ts';
import { linkPages } from './link-pages.ts';
import { email, refusalFrom, sendAlone, unfilled } from './pages.ts';

const schema = v.object({ email });

type Ports = Pick<SignInPorts, 'access' | 'deadline' | 'networkOf' | 'cookies' | 'notifications'>;

/**
 * The pages to ask for a link by mail, where mail is sent. The answer is the same whether the address is known or not, and
 * nobody is looked up before it.
 */
export const addLinkRequests = (router: Router, ports: Ports): void => {
  if (!ports.notifications.isMailOn) return;
  for (const wants of Object.keys(linkPages) as WantedLink[]) {
    const { path } = linkPages[wants];
    router.get(path, (ctx: Context) => show(ctx, { wants }));
    router.post(path, (ctx: Context) => receive(ctx, wants, ports));
  }
};

const receive = async (ctx: Context, wants: WantedLink, ports: Ports): Promise<void> => {
  const values = await ports.deadline.apart(() => readForm(ctx));
  const asking = { wants, kept: readKept(values) };
  if (keptAlone(values)) return show(ctx, asking);
  const checked = checkForm(schema, values);
  if (checked.kind === 'refused') {
    return show(ctx, asking, { status: 422, ...unfilled, ...checked, values });
  }
  const { email: typed } = checked.output;
  try {
    await ports.access.askForLink({ email: typed, wants }, originOf(ctx, ports));
    const next = nextIn(ctx.querystring);
    if (next !== undefined) ports.cookies.next.write(ctx, encodeURIComponent(next));
  } catch (error) {
    return show(ctx, asking, { ...refusalFrom(ctx, error, values), field: 'email' });
  }
  await sendAlone(ctx, 200, {
    title: 'Check your mail',
    content: asked(typed, asking, ctx.querystring),
  });
};

interface Asking {
  readonly wants: WantedLink;
  readonly kept?: KeptForm | undefined;
}

const show = (
  ctx: Context,
  { wants, kept }: Asking,
  refusal?: Refusal & { readonly status: number },
): Promise<void> => {
  const { title, hint, path } = linkPages[wants];
  const content = html`<section class="card alone">
    <h1>${title}</h1>
    <p>${hint}</p>
    <form method="post" action="${withQuery(path, ctx.querystring)}">
      ${keptInput(kept)}
      ${formError(refusal)}
      ${field({ label: 'Email', name: 'email', type: 'email', autocomplete: 'username', maxlength: 254, autofocus: true }, refusal)}
      <button class="main">Send the link</button>
    </form>
    ${wayBack(ctx.querystring, kept)}
  </section>`;
  return sendAlone(ctx, refusal?.status ?? 200, { title, content });
};

const asked = (
  typed: string,
  { wants, kept }: Asking,
  query: string,
): Html => html`<section class="card alone">
    <h1>Check your mail</h1>
    <p role="status">If there is an account for <strong>${typed}</strong>, a mail is on its way. The link in it works once, for ${inWords(mailedLinkMs)}.</p>
    <p class="hint">Nothing there after a few minutes? Look among the spam, and check the address. We send at most ${mailLimits.ofSource.perHour} such mails an hour to one address for one network, and ${mailLimits.inAll.perHour} for all. A browser in which you have signed in is counted by itself.</p>
    <div>${wayWith(kept, { to: withQuery(linkPages[wants].path, query), label: 'Use another address', look: 'button' })}</div>
    ${kept ? wayOn(query, kept) : wayBack(query)}
  </section>`;

const wayBack = (query: string, kept?: KeptForm): Html =>
  html`<div class="hint">${wayWith(kept, { to: withQuery(signInPath, query), label: 'Back to sign-in' })}</div>`;

const wayOn = (query: string, kept: KeptForm): Html => html`
  <p>This page keeps what you entered. Open the link in another tab of this browser, sign in, and then continue here.</p>
  <div>${wayWith(kept, { to: withQuery(signInPath, query), label: 'Continue after signing in' })}</div>`;
