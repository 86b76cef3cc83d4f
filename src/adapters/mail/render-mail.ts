import type { Told } from '../../notifications/domain/notification.ts';
import {
  letterOf,
  summaryOf,
  wrapped,
  type Action,
  type Envelope,
  type Item,
  type Letter,
} from './letter.ts';
import { mailHtml } from './mail-html.ts';

/** What a mail looks like, without those who send and get it. The subject has no end of line. */
export interface RenderedMail {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export const renderMail = (mail: Told & Envelope): RenderedMail => rendered(letterOf(mail, mail));

/** One mail for several notifications. @throws Error if there is none */
export const renderSummary = (mail: Envelope & { readonly told: readonly Told[] }): RenderedMail =>
  rendered(summaryOf(mail.told, mail));

const rendered = (letter: Letter): RenderedMail => ({
  subject: letter.subject,
  text: mailText(letter),
  html: mailHtml(letter),
});

/** All that the mail says, for programs and people that do without HTML. */
const mailText = ({ footer, items, ...letter }: Letter): string =>
  [
    ...[wrapped(letter.title), wrapped(letter.text)],
    ...items.map(itemText),
    actionText(letter.action),
    // What follows two hyphens and a space is a signature to mail programs (RFC 3676, section 4.3).
    ['-- ', wrapped(footer.why), ...footer.actions.map(actionText)].join('\n'),
  ].join('\n\n') + '\n';

const itemText = ({ title, text, action }: Item): string =>
  [wrapped(`* ${title}`), wrapped(text), actionText(action)].join('\n');

const actionText = ({ text, url }: Action): string => `${text}:\n${url}`;
