import type { Told } from '../../notifications/domain/notification.ts';
import { letterOf, summaryOf, type Envelope, type Letter } from './letter.ts';
import { mailHtml } from './mail-html.ts';
import { mailText } from './mail-text.ts';

/** What a mail looks like, without those who send and get it. The subject has no end of line. */
export interface RenderedMail {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** A notification as a mail. */
export const renderMail = (mail: Told & Envelope): RenderedMail => rendered(letterOf(mail, mail));

/** One mail for several notifications. @throws Error if there is none */
export const renderSummary = (mail: Envelope & { readonly told: readonly Told[] }): RenderedMail =>
  rendered(summaryOf(mail.told, mail));

const rendered = (letter: Letter): RenderedMail => ({
  subject: letter.subject,
  text: mailText(letter),
  html: mailHtml(letter),
});
