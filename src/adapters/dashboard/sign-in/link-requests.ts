import type Router from '@koa/router';
import type { Context } from 'koa';
import * as v from 'valibot';
import { mailLimits, type WantedLink } from '../../../access/domain/mail-request.ts';
import { mailedLinkMs } from '../../../access/domain/session.ts';
import { inWords } from '../../../kernel/in-words.ts';
import { checkForm, readForm } from '../frame/form-body.ts';
import { field, formError } from '../frame/form-parts.ts';
import { html, type Html } from '../frame/html.ts';
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
    router.get(path, (ctx: Context) => show(ctx, wants));
    router.post(path, (ctx: Context) => receive(ctx, wants, ports));
  }
};

const receive = async (ctx: Context, wants: WantedLink, ports: Ports): Promise<void> => {
  const values = await ports.deadline.apart(() => readForm(ctx));
  const checked = checkForm(schema, values);
  if (checked.kind === 'refused') {
    return show(ctx, wants, { status: 422, ...unfilled, ...checked, values });
  }
  const { email: typed } = checked.output;
  try {
    await ports.access.askForLink({ email: typed, wants }, originOf(ctx, ports));
    const next = nextIn(ctx.querystring);
    if (next !== undefined) ports.cookies.next.write(ctx, encodeURIComponent(next));
  } catch (error) {
    return show(ctx, wants, { ...refusalFrom(ctx, error, values), field: 'email' });
  }
  await sendAlone(ctx, 200, {
    title: 'Check your mail',
    content: asked(typed, wants, ctx.querystring),
  });
};

const show = (
  ctx: Context,
  wants: WantedLink,
  refusal?: Refusal & { readonly status: number },
): Promise<void> => {
  const { title, hint, path } = linkPages[wants];
  const content = html`<section class="card alone">
    <h1>${title}</h1>
    <p>${hint}</p>
    <form method="post" action="${withQuery(path, ctx.querystring)}">
      ${formError(refusal)}
      ${field({ label: 'Email', name: 'email', type: 'email', autocomplete: 'username', maxlength: 254, autofocus: true }, refusal)}
      <button class="main">Send the link</button>
    </form>
    ${wayBack(ctx.querystring)}
  </section>`;
  return sendAlone(ctx, refusal?.status ?? 200, { title, content });
};

const asked = (
  typed: string,
  wants: WantedLink,
  query: string,
): Html => html`<section class="card alone">
    <h1>Check your mail</h1>
    <p role="status">If there is an account for <strong>${typed}</strong>, a mail is on its way. The link in it works once, for ${inWords(mailedLinkMs)}.</p>
    <p class="hint">Nothing there after a few minutes? Look among the spam, and check the address. We send at most ${mailLimits.ofSource.perHour} such mails an hour to one address for one network, and ${mailLimits.inAll.perHour} for all. A browser in which you have signed in is counted by itself.</p>
    <p><a class="button" href="${withQuery(linkPages[wants].path, query)}">Use another address</a></p>
    ${wayBack(query)}
  </section>`;

const wayBack = (query: string): Html =>
  html`<p class="hint"><a href="${withQuery(signInPath, query)}">Back to sign-in</a></p>`;
