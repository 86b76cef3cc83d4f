import type { Action, Item, Letter } from './letter.ts';
import { wrapped } from './plain-text.ts';

/** All that the mail says, for programs and people that do without HTML. */
export const mailText = ({ footer, items, ...letter }: Letter): string =>
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
