import type { Attachment } from './attachment.ts';

/** What the order of a custom domain is kept under: there is one for each generation, see `orderStarted`. */
export const orderSubject = ({ id, generation }: Pick<Attachment, 'id' | 'generation'>): string =>
  `${subjectsOf(id)}${String(generation)}`;

/** How the subjects of an attachment begin, whatever the generation. */
export const subjectsOf = (attachmentId: string): string => `domain:${attachmentId}:`;

/** The attachment that an order is for; undefined for the own host of a project. */
export const attachmentIn = (subject: string): string | undefined =>
  /^domain:([^:]+):/.exec(subject)?.[1];
