import type Router from '@koa/router';
import type { Context } from 'koa';
import type { SignedIn } from '../../../access/people-ports.ts';
import { redirect, sendHtml, wantsEvents } from './answering.ts';
import type { DashboardPorts } from './ports.ts';
import { readerOf } from './bell.ts';
import { checkForm, readForm } from './form-body.ts';
import { layout } from './layout.ts';
import type { LiveStreams } from './live-streams.ts';
import { actOnce } from './act-once.ts';
import { problemOf } from './page-problem.ts';
import { notePage } from './requested-page.ts';
import { pathOf, type Form, type Outcome, type Page, type Refusal } from './screen.ts';
import type { Screen, Visit } from './screen.ts';

export interface ScreenPorts extends DashboardPorts {
  readonly live: LiveStreams;
  /** @returns undefined when it sent the visitor to sign in */
  readonly signedIn: (ctx: Context) => Promise<SignedIn | undefined>;
}

/** A GET of the address of a form, such as a reload after a refusal, shows the page with the form. */
export const addWaysBack = (router: Router, screen: Screen, ports: ScreenPorts): void => {
  const posts = (screen.others ?? []).filter(({ method }) => method === 'POST');
  const back = visited(screen, ports, (ctx, visit) => {
    redirect(ctx, pathOf(screen, visit));
  });
  for (const { path } of [...(screen.forms ?? []), ...posts]) router.get(path, back);
};

/** Puts a screen on its paths: the page, its forms, and its live updates. */
export const addScreen = (router: Router, screen: Screen, ports: ScreenPorts): void => {
  const page = visited(screen, ports, async (ctx, visit) => {
    if (screen.live !== false && wantsEvents(ctx)) await ports.live.open(ctx, { screen, visit });
    else await sendPage(ctx, { screen, visit, ports }, await screen.show(visit));
  });
  router.get(screen.path, page);
  for (const form of screen.forms ?? []) {
    const received = visited(screen, ports, (ctx, visit) =>
      receive(ctx, { screen, form, visit, ports }),
    );
    router.post(form.path, received);
  }
  for (const { method, path, answer } of screen.others ?? []) {
    const answered = visited(screen, ports, async (ctx, visit) => {
      const outcome = await asPerson(ports, visit, () => answer(visit, ctx));
      if (outcome) await send(ctx, { screen, visit, ports }, outcome);
    });
    router[method === 'GET' ? 'get' : 'post'](path, answered);
  }
};

/** Answers the people who are signed in. */
const visited =
  (
    screen: Screen,
    ports: ScreenPorts,
    answer: (ctx: Context, visit: Visit) => Promise<void> | void,
  ) =>
  async (ctx: Context): Promise<void> => {
    const signedIn = await ports.signedIn(ctx);
    if (!signedIn) return;
    const visit = {
      signedIn,
      accountId: signedIn.account.id,
      parameters: ctx['params'] as Readonly<Record<string, string>>,
      query: new URLSearchParams(ctx.querystring),
      now: ports.clock.now(),
    };
    notePage(ctx, screen, visit);
    await answer(ctx, visit);
  };

/** What the person does, for the audit log. */
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

const receive = async (ctx: Context, sent: Sent): Promise<void> => {
  const { screen, form, visit, ports } = sent;
  const values = await ports.deadline.apart(() => readForm(ctx));
  const checked = checkForm(form.schema, values);
  // The page of the form, with the error beside the field.
  const refused = async (problem: Pick<Refusal, 'field' | 'message'>, status: number) => {
    const { field, message } = problem;
    const refusal = { form: form.name, field, message, values, parameters: visit.parameters };
    await sendPage(ctx, sent, { ...(await screen.show(visit, refusal)), status });
  };
  if (checked.kind === 'refused') return refused(checked, 422);
  const act = () => asPerson(ports, visit, () => form.act(visit, checked.output as never));
  try {
    await send(ctx, sent, await (form.once ? actOnce({ ...sent, values }, act) : act()));
  } catch (error) {
    const { status, message, retryAfter } = problemOf(error);
    if (status !== 422 && status !== 429) throw error;
    if (retryAfter !== undefined) ctx.set('Retry-After', String(retryAfter));
    await refused({ field: form.field, message }, status);
  }
};

const send = async (ctx: Context, visited: Visited, outcome: Outcome): Promise<void> => {
  if ('to' in outcome) {
    redirect(ctx, outcome.to, outcome.done);
  } else if ('secret' in outcome) {
    const { title, status, secret } = outcome;
    const { content } = await visited.screen.show(visited.visit, undefined, secret);
    // A live update would take the secret away.
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
  const { section, notices = {} } = screen;
  const { signedIn, now } = visit;
  const done = visit.query.get('done') ?? '';
  const notice = Object.hasOwn(notices, done) ? notices[done] : undefined;
  const live = screen.live === false ? undefined : pathOf(screen, visit);
  const unread = await ports.notifications.countUnread(readerOf(signedIn));
  await sendHtml(
    ctx,
    page.status ?? 200,
    layout(page, { section, live, notice, signedIn, unread, now }),
  );
};
