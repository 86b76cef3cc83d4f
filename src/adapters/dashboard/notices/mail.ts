import type Router from '@koa/router';
import type { Context } from 'koa';
import * as v from 'valibot';
import { isKind, kinds } from '../../../notifications/domain/kinds.ts';
import type { NotificationKind, OwnersKind } from '../../../notifications/domain/notification.ts';
import { html, type Html } from '../frame/html.ts';
import { sendAlone } from '../frame/layout.ts';
import { PageProblem } from '../frame/page-problem.ts';
import { mePath, unsubscribePath } from '../frame/paths.ts';
import { form, type Form } from '../frame/screen.ts';
import type { DashboardPorts } from '../ports.ts';

const mailPath = `${mePath}/mail`;

type Ports = Pick<DashboardPorts, 'notifications'>;

export const mailSection = async (
  { notifications }: Ports,
  { id, email }: { readonly id: string; readonly email: string },
): Promise<Html> => {
  if (!notifications.isMailOn)
    return section(
      html`<p class="hint">This installation sends no mail. What happens shows in the <a href="/dashboard/notices">notices</a>.</p>`,
    );
  const off = await notifications.mailKindsOff(id);
  return section(html`
    <p class="hint">We write to ${email} about what you tick. The <a href="/dashboard/notices">notices</a> show everything. This is for you only; the others of this account choose for themselves.</p>
    <form method="post" action="${mailPath}">
      <input type="hidden" name="shown" value="${choices.join(',')}">
      <div class="kinds">${mailGroups.map((group) => fieldset(group, off))}</div>
      <div class="stack hint">
        <p>These mails always come, because they are about your own access:</p>
        <ul class="bullets">${always.map((kind) => html`<li>${sentence(kind)}</li>`)}</ul>
      </div>
      <div><button>Save mail settings</button></div>
    </form>`);
};

const section = (content: Html): Html =>
  html`<section class="card" id="mail"><h2>Mail</h2>${content}</section>`;

const all = Object.keys(kinds).filter(isKind);
const isChoice = (kind: NotificationKind): kind is OwnersKind => kinds[kind].to === 'owners';
const choices = all.filter(isChoice);
const always = all.filter((kind) => !isChoice(kind));

const fieldset = (group: MailGroup, off: ReadonlySet<NotificationKind>): Html => {
  const its = choices.filter((kind) => groupOf[kind] === group);
  return html`<fieldset>
    <legend>${group}</legend>
    ${its.map((kind) => html`<label><input type="checkbox" name="on" value="${kind}" ${!off.has(kind) && html`checked`}><span>${sentence(kind)}</span></label>`)}
  </fieldset>`;
};

const sentence = (kind: NotificationKind): string => kinds[kind].when;

/** Kinds that the page did not show are unchanged, because the page may be from an older version. */
export const mailForm = ({ notifications }: Ports): Form =>
  form({
    name: 'mail',
    operation: 'me.change',
    path: mailPath,
    schema: v.object({ on: v.optional(v.string(), ''), shown: v.optional(v.string(), '') }),
    act: async ({ signedIn: { person } }, { on, shown }) => {
      const ticked = new Set(on.split(','));
      const known: readonly NotificationKind[] = shown.split(',').filter(isKind).filter(isChoice);
      const before = await notifications.mailKindsOff(person.id);
      const others = [...before].filter((kind) => !known.includes(kind));
      const off = known.filter((kind) => !ticked.has(kind));
      await notifications.chooseMail(person.id, new Set([...others, ...off]));
      return { to: mePath, done: 'mail' };
    },
  });

const mailGroups = ['Domains', 'Certificates', 'Deploys', 'API and webhooks'] as const;
type MailGroup = (typeof mailGroups)[number];

const groupOf = {
  'domain.live': 'Domains',
  'domain.removed': 'Domains',
  'domain.expired': 'Domains',
  'domain.contested': 'Domains',
  'domain.unhealthy': 'Domains',
  'domain.recovered': 'Domains',
  'certificate.failing': 'Certificates',
  'certificate.recovered': 'Certificates',
  'project.deleted': 'Deploys',
  'deploy.failed': 'Deploys',
  'key.banned': 'API and webhooks',
  'quota.warning': 'API and webhooks',
  'quota.reached': 'API and webhooks',
  'operation.removal': 'API and webhooks',
  'webhook.off': 'API and webhooks',
} as const satisfies Readonly<Record<OwnersKind, MailGroup>>;

/**
 * Stops mails of some kinds for the link's recipient, without a sign-in. Mail programs send a POST (RFC 8058). A GET
 * only asks for confirmation, because mail scanners follow every link.
 */
export const addUnsubscribe = (router: Router, { notifications }: Ports): void => {
  router.get(unsubscribePath, async (ctx: Context) => {
    const wanted = notifications.whatToUnsubscribe(tokenOf(ctx));
    if (!wanted) throw unknownLink();
    await send(ctx, asking(wanted.kinds, ctx.url));
  });

  router.post(unsubscribePath, async (ctx: Context) => {
    if (!(await notifications.unsubscribe(tokenOf(ctx)))) throw unknownLink();
    await send(ctx, done);
  });
};

const tokenOf = (ctx: Context): string => new URLSearchParams(ctx.querystring).get('token') ?? '';

const unknownLink = (): PageProblem =>
  new PageProblem(
    404,
    'This link is not complete, or no longer works. Sign in and choose your mails on your profile.',
  );

const send = (ctx: Context, content: Html): Promise<void> =>
  sendAlone(ctx, {
    title: 'Unsubscribe',
    content: html`<section class="card alone">${content}</section>`,
  });

const asking = (wanted: readonly NotificationKind[], action: string): Html => html`
  <h1>No more of these mails?</h1>
  <p>You will get no more mails when this happens:</p>
  <ul class="bullets">${wanted.map((kind) => html`<li>${kinds[kind].when}</li>`)}</ul>
  <form method="post" action="${action}"><button class="main">Unsubscribe</button></form>
  <p class="hint">The notices in the dashboard still show it. You can choose again on <a href="/dashboard/me#mail">your profile</a>.</p>`;

const done = html`
  <h1>You are unsubscribed</h1>
  <p>You get no more of these mails. The notices in the dashboard still show what happens.</p>
  <p class="hint">You can choose again on <a href="/dashboard/me#mail">your profile</a>.</p>`;
