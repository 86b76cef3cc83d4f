import * as v from 'valibot';
import { isKind, kinds } from '../../../notifications/domain/kinds.ts';
import type { NotificationKind, OwnersKind } from '../../../notifications/domain/notification.ts';
import { html, type Html } from '../frame/html.ts';
import type { DashboardPorts } from '../frame/ports.ts';
import { form, type Form } from '../frame/screen.ts';
import { groupOf, mailGroups, type MailGroup } from './mail-groups.ts';
import { accountPath } from './people-forms.ts';

const path = `${accountPath}/mail`;

type Ports = Pick<DashboardPorts, 'notifications'>;

/** Which mails the person gets, and which nobody can switch off. */
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
    <form method="post" action="${path}">
      <input type="hidden" name="shown" value="${choices.join(',')}">
      <div class="kinds">${mailGroups.map((group) => fieldset(group, off))}</div>
      <div class="stack hint">
        <p>These mails always come, because they are about your own access:</p>
        <ul class="bullets">${always.map((kind) => html`<li>${sentence(kind)}</li>`)}</ul>
      </div>
      <div><button class="main">Save mail settings</button></div>
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

/** Kinds that the page did not show stay as they are: it may be older than this version. */
export const mailForm = ({ notifications }: Ports): Form =>
  form({
    name: 'mail',
    path,
    schema: v.object({ on: v.optional(v.string(), ''), shown: v.optional(v.string(), '') }),
    act: async ({ signedIn: { person } }, { on, shown }) => {
      const ticked = new Set(on.split(','));
      const known: readonly NotificationKind[] = shown.split(',').filter(isKind).filter(isChoice);
      const before = await notifications.mailKindsOff(person.id);
      const others = [...before].filter((kind) => !known.includes(kind));
      const off = known.filter((kind) => !ticked.has(kind));
      await notifications.chooseMail(person.id, new Set([...others, ...off]));
      return { to: accountPath, done: 'mail' };
    },
  });
