import type Router from '@koa/router';
import type { Context } from 'koa';
import type { SignedIn } from '../../../access/people-ports.ts';
import type { Shown } from '../../../access/use-cases/second-factor.ts';
import { field, formError } from '../frame/form-parts.ts';
import { html, type Html, nothing } from '../frame/html.ts';
import { sendAlone } from '../frame/layout.ts';
import { factorPath, pageAfterSignIn, signInPath, withQuery } from '../frame/paths.ts';
import { redirect } from '../frame/responses.ts';
import { type KeptForm, keptInput, readForm, readKept } from '../frame/sent-form.ts';
import { sendAccountChooser } from './accounts-screen.ts';
import { passkeyForm, whereElse } from './passkey-form.ts';
import { refreshSignedIn, type SignInPorts } from './session.ts';
import { linkPages, refusalFrom } from './sign-in-page.ts';

const confirmPath = '/dashboard/confirm';

interface ProofPage {
  readonly query: string;
  readonly kept?: KeptForm | undefined;
  readonly refusal?: ReturnType<typeof refusalFrom> | undefined;
}

export const addProofs = (router: Router, ports: SignInPorts): void => {
  router.get(factorPath, async (ctx: Context) => {
    const waiting = await whoWaits(ctx, ports);
    if (waiting) await showFactorPage(ctx, waiting, ports);
    else redirect(ctx, withQuery(signInPath, ctx.querystring));
  });
  router.post(factorPath, async (ctx: Context) => {
    const values = await readForm(ctx, ports);
    const waiting = await whoWaits(ctx, ports);
    const page = { query: ctx.querystring, kept: readKept(values) };
    if (!waiting) {
      redirect(ctx, withQuery(signInPath, ctx.querystring));
      return;
    }
    const refusal = await refusedProof(ctx, ports, { signedIn: waiting, values });
    if (refusal) return showFactorPage(ctx, waiting, ports, { ...page, refusal });
    await goOn(ctx, page.kept, ports);
  });
  router.get(confirmPath, async (ctx: Context) => {
    const signedIn = await ports.whoAsks(ctx);
    if (signedIn) await showConfirmation(ctx, signedIn, ports);
    else redirect(ctx, signInPath);
  });
  router.post(confirmPath, async (ctx: Context) => {
    const values = await readForm(ctx, ports);
    const signedIn = await ports.whoAsks(ctx);
    if (!signedIn) {
      redirect(ctx, signInPath);
      return;
    }
    // If another tab has switched to another account, the kept form is not for that account.
    const sent = readKept(values);
    const kept = sent?.personId === signedIn.person.id ? sent : undefined;
    const page = { query: ctx.querystring, kept };
    const refusal = await refusedProof(ctx, ports, { signedIn, values });
    if (refusal) return showConfirmation(ctx, signedIn, ports, { ...page, refusal });
    await refreshSignedIn(ctx, ports);
    if (page.kept) await ports.refill(ctx, page.kept, 'send');
    else redirect(ctx, pageAfterSignIn(ctx.querystring));
  });
};

const whoWaits = (ctx: Context, { access, cookies }: SignInPorts) =>
  access.findWaiting(cookies.session.read(ctx) ?? '');

const goOn = async (
  ctx: Context,
  kept: KeptForm | undefined,
  ports: SignInPorts,
): Promise<void> => {
  const signedIn = await refreshSignedIn(ctx, ports);
  if (signedIn.session.others.length > 0) await sendAccountChooser(ctx, signedIn, kept, ports);
  else if (kept) await ports.refill(ctx, kept);
  else redirect(ctx, pageAfterSignIn(ctx.querystring));
};

interface Sent {
  readonly signedIn: SignedIn;
  readonly values: Readonly<Record<string, string>>;
}

const refusedProof = async (
  ctx: Context,
  { access, acting }: SignInPorts,
  { signedIn, values }: Sent,
): Promise<ProofPage['refusal']> => {
  try {
    const prove = () => access.prove(signedIn, shownIn(values));
    await acting.run(`person:${signedIn.person.email}`, prove);
    return undefined;
  } catch (error) {
    return refusalFrom(ctx, error, values);
  }
};

const longest = 10_000;

const shownIn = ({ shown, password, code = '' }: Sent['values']): Shown => {
  if (shown !== undefined) return { kind: 'passkey', shown: shown.slice(0, longest) };
  if (password !== undefined) return { kind: 'password', password };
  return { kind: 'code', code: code.slice(0, 100) };
};

export const showFactorPage = async (
  ctx: Context,
  waiting: SignedIn,
  ports: SignInPorts,
  page: ProofPage = { query: ctx.querystring },
): Promise<void> => {
  const { account, person } = waiting;
  await sendAlone(ctx, {
    title: 'Second factor',
    status: page.refusal?.status ?? 200,
    content: html`<section class="card alone">
      <h1>Second factor</h1>
      <p>You sign in to <strong>${account.name}</strong> as <strong>${person.email}</strong>.</p>
      ${formError(page.refusal)}
      ${await factorForms(waiting, ports, { ...page, action: withQuery(factorPath, page.query) })}
      <form method="post" action="/dashboard/sign-out" class="inline"><button class="bare">Sign in as somebody else</button></form>
    </section>`,
  });
};

const factorForms = async (
  signedIn: SignedIn,
  { access, settings }: SignInPorts,
  { action, kept, refusal }: ProofPage & { readonly action: string },
): Promise<Html> => {
  const factor = await access.findFactor(signedIn.person.id);
  const origin = access.passkeyOrigin;
  const options = await access.passkeyOptions(signedIn, 'show');
  const asked = { purpose: 'show', action, origin, options, label: 'Use a passkey' } as const;
  const hint = factor.app
    ? 'The six digits that your app shows, or one of your recovery codes.'
    : 'No passkey at hand? Enter one of your recovery codes.';
  return html`${passkeyForm({ ...asked, fields: keptInput(kept) })}
    ${options !== undefined && whereElse(origin, settings.origin)}
    <form method="post" action="${action}">
      ${keptInput(kept)}
      ${field({ label: 'Code', name: 'code', autocomplete: 'one-time-code', maxlength: 40, autofocus: refusal === undefined, hint }, refusal)}
      <button ${options === undefined && html`class="main"`}>Continue</button>
    </form>
    <p class="hint">Lost them all? The operator of this service can remove your second factor.</p>`;
};

export const showConfirmation = async (
  ctx: Context,
  signedIn: SignedIn,
  ports: SignInPorts,
  page: ProofPage = { query: ctx.querystring },
): Promise<void> => {
  const action = withQuery(confirmPath, page.query);
  const { factorSince, passwordHash } = signedIn.person;
  const canConfirmHere = factorSince !== undefined || passwordHash !== undefined;
  const forms = factorSince
    ? await factorForms(signedIn, ports, { ...page, action })
    : passwordForms(signedIn, ports, { ...page, action });
  await sendAlone(ctx, {
    title: 'Confirm that it is you',
    status: page.refusal?.status ?? 200,
    content: html`<section class="card alone">
      <h1>Confirm that it is you</h1>
      <p>We ask before deletions and changes to roles or secrets if you last signed in or confirmed more than 10 minutes ago. ${page.kept && canConfirmHere && 'Then we do what you sent.'}</p>
      ${formError(page.refusal)}
      ${forms}
      <p class="hint"><a href="/dashboard">Cancel</a></p>
    </section>`,
  });
};

const passwordForms = (
  { person }: SignedIn,
  { notifications }: SignInPorts,
  { action, kept, query, refusal }: ProofPage & { readonly action: string },
): Html => {
  const hasPassword = person.passwordHash !== undefined;
  const link = withQuery(linkPages.sign_in.path, query);
  return html`${
    hasPassword
      ? html`<form method="post" action="${action}">
          ${keptInput(kept)}
          <input type="text" name="username" value="${person.email}" autocomplete="username" hidden>
          ${field({ label: 'Password', name: 'password', type: 'password', autocomplete: 'current-password', maxlength: 1000, autofocus: true }, refusal)}
          <button class="main">Confirm</button>
        </form>`
      : html`<p>You have no password yet. ${notifications.isMailOn ? 'Open a new sign-in link to continue.' : 'Ask the operator for a new sign-in link, and open it here.'} Then you can choose a password.</p>`
  }
  ${
    notifications.isMailOn
      ? html`<form method="post" action="${link}" class="inline">
          ${keptInput(kept)}
          <input type="hidden" name="email" value="${person.email}">
          <button>Send me a sign-in link</button>
        </form>`
      : nothing
  }`;
};
