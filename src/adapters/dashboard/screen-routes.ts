import type Router from '@koa/router';
import type { Context } from 'koa';
import { isProven } from '../../access/domain/session.ts';
import { aRole, mayDo, type Operation, operations } from '../../access/domain/role.ts';
import type { SignedIn } from '../../access/people-ports.ts';
import { DomainError } from '../../kernel/decision.ts';
import type { UploadRefusal } from '../../sites/domain/sites-error.ts';
import { onceField } from './frame/form-parts.ts';
import { html, type Html } from './frame/html.ts';
import { layout, readerOf, sendAlone } from './frame/layout.ts';
import type { LiveStreams } from './frame/live-streams.ts';
import { PageProblem, problemOf } from './frame/page-problem.ts';
import { deletedPath, secondFactorPath, signInPath, withQuery } from './frame/paths.ts';
import { redirect, sendHtml, wantsEvents } from './frame/responses.ts';
import {
  type Form,
  type Outcome,
  type Page,
  pathOf,
  type Refusal,
  type Screen,
  type Upload,
  type Visit,
} from './frame/screen.ts';
import {
  actOnce,
  checkForm,
  signedCode,
  keptAgain,
  type KeptForm,
  keptIn,
  keptOf,
  linkWithKept,
  readForm,
  withVerifiedCode,
} from './frame/sent-form.ts';
import type { DashboardPorts } from './ports.ts';
import { notePage } from './request-lifecycle.ts';

export interface ScreenPorts extends DashboardPorts {
  readonly live: LiveStreams;
  /** @returns undefined after redirecting the visitor to the sign-in page */
  readonly signedIn: (ctx: Context, wanted: Wanted) => Promise<SignedIn | undefined>;
  readonly secretOf: (ctx: Context) => string;
  readonly confirm: (ctx: Context, signedIn: SignedIn, kept: KeptForm | undefined) => Promise<void>;
}

export interface Wanted {
  readonly page: string;
  readonly kept: (() => KeptForm | undefined) | undefined;
}

export interface Routers {
  readonly pages: Router;
  /** Routes that show a form with the values typed before the sign-in; see `KeptForm`. */
  readonly refills: Router;
  /** Routes that answer a GET of a form's address, such as a reload after a refusal, with the form's page. */
  readonly waysBack: Router;
  readonly operations: Map<string, Operation>;
}

type Values = Readonly<Record<string, string>>;
/** @param values of the form */
type Answer = (ctx: Context, visit: Visit, values: Values) => Promise<void> | void;

/** Adds the routes of a screen: its page, forms and live updates. */
export const addScreen = (
  { pages, refills, waysBack, operations: asked }: Routers,
  screen: Screen,
  ports: ScreenPorts,
): void => {
  const visited = (answer: Answer, form?: Form) => visiting({ screen, ports, form }, answer);
  const acting = (upload: Upload) =>
    visited((ctx, visit) => receiveFile(ctx, { screen, visit, ports }, upload));
  const back = visited((ctx, visit) => {
    redirect(ctx, withQuery(pathOf(screen, visit), ctx.querystring));
  });
  const page = visited(async (ctx, visit) => {
    if (screen.live !== false && wantsEvents(ctx)) await ports.live.open(ctx, { screen, visit });
    else await sendPage(ctx, { screen, visit, ports }, await screen.show(visit));
  });
  pages.get(screen.path, page);
  for (const form of screen.forms ?? []) {
    asked.set(form.path, form.operation);
    const sent = (visit: Visit) => ({ screen, form, visit, ports });
    pages.post(
      form.path,
      visited((ctx, visit, values) => receive(ctx, sent(visit), values), form),
    );
    refills.post(
      form.path,
      visited((ctx, visit) => refill(ctx, sent(visit))),
    );
    waysBack.get(form.path, back);
  }
  for (const upload of screen.uploads ?? []) {
    asked.set(upload.path, upload.operation);
    pages.post(upload.path, acting(upload));
    waysBack.get(upload.path, back);
  }
  for (const other of screen.others ?? []) {
    const { method, path, answer } = other;
    if (other.method === 'POST') asked.set(path, other.operation);
    const answered = visited(async (ctx, visit) => {
      if (other.method === 'POST') refuseUnless(visit, other.operation);
      const outcome = await asPerson(ports, visit, () => answer(visit, ctx));
      if (outcome) await send(ctx, { screen, visit, ports }, outcome);
    });
    pages[method === 'GET' ? 'get' : 'post'](path, answered);
    if (method === 'POST') waysBack.get(path, back);
  }
};

const refill = async (ctx: Context, sent: Sent): Promise<void> => {
  const { screen, form, visit } = sent;
  const { values, isSent } = keptIn(ctx);
  refuseUnless(visit, form.operation);
  if (isSent && form.secrets === undefined) return receive(ctx, sent, values);
  const { parameters } = visit;
  const nothingWrong = { field: undefined, message: undefined };
  const page = await screen.show(visit, { form: form.name, ...nothingWrong, values, parameters });
  const content = html`${notSent(Object.keys(values).length > 0)}${page.content}`;
  const still = { ...sent, screen: { ...screen, live: false as const } };
  await sendPage(ctx, still, { ...page, content });
};

const notSent = (isFilled: boolean): Html =>
  html`<p class="notice busy" role="status" data-said>You had to sign in or confirm first, so nothing was done. ${isFilled ? 'What you entered is here again: check it, and send it once more.' : 'Send it once more.'}</p>`;

const leftOut = ({ secrets = [] }: Form): readonly string[] => [onceField, ...secrets];

interface Asked {
  readonly screen: Screen;
  readonly ports: ScreenPorts;
  readonly form: Form | undefined;
}

const visiting =
  ({ screen, ports, form }: Asked, answer: Answer) =>
  async (ctx: Context): Promise<void> => {
    const parameters = ctx['params'] as Readonly<Record<string, string>>;
    const page = pathOf(screen, { parameters });
    notePage(ctx, screen, parameters);
    // The form is read before we look up the sender, because it may take long to arrive.
    const values = form ? await readForm(ctx, ports) : {};
    const kept = form && (() => keptOf(ctx.url, values, leftOut(form)));
    const signedIn = await ports.signedIn(ctx, { page, kept });
    if (!signedIn) return;
    const { deletedAt } = signedIn.account;
    if (deletedAt && !screen.isForDeleted) {
      redirect(ctx, deletedPath);
      return;
    }
    if (!deletedAt && mustSetUp(signedIn) && !screen.isForSetUp) {
      await sendSetUp(ctx, kept?.() ?? keptAgain(ctx));
      return;
    }
    const visit = {
      ...whoMay(signedIn),
      accountId: signedIn.account.id,
      parameters,
      query: withVerifiedCode(new URLSearchParams(ctx.querystring), ports.secretOf(ctx)),
      now: ports.clock.now(),
    };
    await answer(ctx, visit, values);
  };

const sendSetUp = async (ctx: Context, kept: KeptForm | undefined): Promise<void> => {
  if (!kept) {
    redirect(ctx, secondFactorPath);
    return;
  }
  const title = 'Set up a second factor';
  const content = html`<section class="card alone">
    <h1>${title}</h1>
    <p role="status">This account requires a second factor of everybody, so nothing was done. This page keeps what you entered, so that you can continue here afterwards.</p>
    <div class="row"><a class="button" href="${secondFactorPath}" target="_blank">Set it up in another tab</a>${linkWithKept(kept, { to: signInPath, label: 'Continue after setting up' })}</div>
  </section>`;
  await sendAlone(ctx, { title, content });
};

const whoMay = (signedIn: SignedIn): Pick<Visit, 'signedIn' | 'may'> => ({
  signedIn,
  may: (operation) => mayDo(signedIn.person.role, operation),
});

/** Whether the person signed in after the account began to require a second factor, and has none. */
const mustSetUp = ({ account, person, session }: SignedIn): boolean =>
  account.factorDemandedAt !== undefined &&
  person.factorSince === undefined &&
  session.startedAt > account.factorDemandedAt;

const asPerson = <T>(
  { acting }: ScreenPorts,
  { signedIn: { person } }: Visit,
  act: () => Promise<T>,
): Promise<T> => acting.run(`person:${person.email}`, act);

interface Visited {
  readonly screen: Screen;
  readonly visit: Visit;
  readonly ports: ScreenPorts;
}

interface Sent extends Visited {
  readonly form: Form;
}

const receive = async (ctx: Context, sent: Sent, values: Values): Promise<void> => {
  const { screen, form, visit, ports } = sent;
  refuseUnless(visit, form.operation);
  if (form.showsSecret && isUnseen(ctx)) {
    throw new PageProblem(
      409,
      'The page was left, so nothing was done: nobody would see the secret.',
    );
  }
  const checked = checkForm(form.schema, values);
  const refused = async (
    problem: Pick<Refusal, 'field' | 'message' | 'isByPlan'>,
    status: number,
  ) => {
    const { parameters } = visit;
    const refusal = { ...problem, form: form.name, values, parameters };
    await sendPage(ctx, sent, { ...(await screen.show(visit, refusal)), status });
  };
  if (checked.kind === 'refused') return refused(checked, 422);
  const { signedIn } = visit;
  const asksAgain = operations[form.operation].again || form.again?.(signedIn) === true;
  if (asksAgain && !isProven(signedIn.session, visit.now)) {
    return ports.confirm(ctx, signedIn, keptOf(ctx.url, values, form.secrets ?? []));
  }
  const act = () => asPerson(ports, visit, () => form.act(visit, checked.output as never));
  try {
    await send(ctx, sent, await (form.once ? actOnce({ ...sent, values }, act) : act()));
  } catch (error) {
    const { status, message, retryAfter } = problemOf(error);
    if (status !== 422 && status !== 429) throw error;
    if (retryAfter !== undefined) ctx.set('Retry-After', String(retryAfter));
    const field = fieldOf(error, values) ?? form.field;
    await refused({ field, message, isByPlan: isByPlan(error) }, status);
  }
};

/** Whether a script sent the form after its page was left (W3C Fetch Metadata, section 2.2). */
const isUnseen = (ctx: Context): boolean => ctx.get('Sec-Fetch-Mode') === 'no-cors';

const receiveFile = async (ctx: Context, visited: Visited, upload: Upload): Promise<void> => {
  const { screen, visit, ports } = visited;
  const { operation, field } = upload;
  refuseUnless(visit, operation);
  const admit = async (): Promise<void> => {
    const signedIn = await ports.access.findSession(ports.secretOf(ctx));
    if (!signedIn || signedIn.account.deletedAt) {
      throw new PageProblem(
        403,
        'You were signed out while the file arrived. Nothing was changed.',
      );
    }
    refuseUnless(whoMay(signedIn), operation);
  };
  try {
    await send(ctx, visited, await asPerson(ports, visit, () => upload.act(visit, ctx.req, admit)));
  } catch (error) {
    if (!(error instanceof DomainError) || !(error.code in refusalStatus)) throw error;
    const { code, message } = error as DomainError<UploadRefusal>;
    const status = refusalStatus[code];
    if (status === 503) ctx.set('Retry-After', '30');
    const { parameters } = visit;
    const refusal = { form: 'upload', field, message, values: {}, parameters };
    await sendPage(ctx, visited, { ...(await screen.show(visit, refusal)), status });
  } finally {
    ports.uploads.discard(ctx.req);
  }
};

/** A slow upload does not get a 408, because browsers may repeat the request after it. */
const refusalStatus: Readonly<Record<UploadRefusal, number>> = {
  upload_ambiguous: 422,
  upload_busy: 503,
  upload_cut_off: 400,
  upload_missing: 422,
  upload_no_form: 415,
  upload_no_space: 503,
  upload_too_large: 422,
  upload_too_slow: 400,
};

const planLimits: ReadonlySet<string> = new Set([
  'plan_upgrade_required',
  'domain_limit_reached',
  'project_limit_reached',
]);

const isByPlan = (error: unknown): boolean =>
  error instanceof DomainError && planLimits.has((error as DomainError).code);

/** The only place that checks a person's permission. @throws PageProblem 403 */
const refuseUnless = (
  { may, signedIn }: Pick<Visit, 'signedIn' | 'may'>,
  operation: Operation,
): void => {
  if (may(operation)) return;
  const { does, by } = operations[operation];
  throw new PageProblem(
    403,
    `You are ${aRole(signedIn.person.role)} of this account. Only ${aRole(by)} may ${does}.`,
  );
};

const fieldOf = (error: unknown, values: Refusal['values']): string | undefined => {
  const field = error instanceof DomainError ? error.field : undefined;
  return field !== undefined && Object.hasOwn(values, field) ? field : undefined;
};

const send = async (ctx: Context, visited: Visited, outcome: Outcome): Promise<void> => {
  if ('to' in outcome) {
    const { done } = outcome;
    const said = done === undefined ? undefined : signedCode(visited.ports.secretOf(ctx), done);
    redirect(ctx, outcome.to, said);
  } else if ('secret' in outcome) {
    const { title, status, secret } = outcome;
    const { content } = await visited.screen.show(visited.visit, undefined, secret);
    const still = { ...visited, screen: { ...visited.screen, live: false as const } };
    await sendPage(ctx, still, { title, status, content });
  } else {
    await sendPage(ctx, visited, outcome);
  }
};

const sendPage = async (
  ctx: Context,
  { screen, visit, ports }: Visited,
  page: Page,
): Promise<void> => {
  const { section, help, notices = {} } = screen;
  const { signedIn, now } = visit;
  const done = visit.query.get('done') ?? '';
  const notice = Object.hasOwn(notices, done) ? notices[done] : undefined;
  const live = screen.live === false ? undefined : pathOf(screen, visit);
  const unread = await ports.notifications.countUnread(readerOf(signedIn));
  await sendHtml(
    ctx,
    page.status ?? 200,
    layout(page, { section, help, live, notice, signedIn, unread, now }),
  );
};
