import { inWords, kinds, type Wording } from '../../notifications/domain/kinds.ts';
import type { NotificationContent } from '../../notifications/domain/notification.ts';

export interface Envelope {
  readonly account: string;
  readonly origin: string;
  readonly unsubscribeUrl?: string | undefined;
}

export type Tone = Wording['tone'];

export interface Action {
  readonly text: string;
  readonly url: string;
}

export interface Item {
  readonly tone: Tone;
  readonly title: string;
  readonly text: string;
  readonly action: Action;
}

/** All fields are free of line breaks. */
export interface Letter extends Item {
  readonly account: string;
  readonly subject: string;
  readonly items: readonly Item[];
  readonly footer: { readonly why: string; readonly actions: readonly Action[] };
}

const mostItems = 20;
const most = { account: 60, title: 300, text: 2000 } as const;
const urgency: readonly Tone[] = ['bad', 'busy', 'good', 'idle'];

export const letterOf = (told: NotificationContent, envelope: Envelope): Letter => {
  const item = itemOf(told, envelope);
  const isPersonal = kinds[told.kind].to === 'person';
  return {
    ...item,
    ...named(item.title, envelope),
    items: inWords(told).others.map(({ title, link }) => ({
      tone: 'idle',
      title: oneLine(title, most.title),
      text: '',
      action: { text: link.text, url: urlOf(link.path, envelope) },
    })),
    footer: isPersonal ? personalFooter : ownersFooter(envelope),
  };
};

/** @param told contains at least one */
export const summaryOf = (told: readonly NotificationContent[], envelope: Envelope): Letter => {
  const items = told
    .map((one) => itemOf(one, envelope))
    .toSorted((one, other) => urgency.indexOf(one.tone) - urgency.indexOf(other.tone));
  const [first] = items;
  if (!first) throw new Error('a summary needs at least one notice');
  const others = items.length - 1;
  const left = items.length - mostItems;
  return {
    ...named(others > 0 ? `${first.title}, and ${others} more` : first.title, envelope),
    tone: first.tone,
    title: `${items.length} things happened`,
    text:
      left > 0
        ? `The ${mostItems} most important ones are below. The notices also show the other ${left}.`
        : 'The most important ones come first.',
    items: items.slice(0, mostItems),
    action: { text: 'Show all notices', url: urlOf('/dashboard/notices', envelope) },
    footer: ownersFooter(envelope),
  };
};

const itemOf = (told: NotificationContent, envelope: Envelope): Item => {
  const { tone, title, text, link } = inWords(told);
  return {
    tone,
    title: oneLine(title, most.title),
    text: oneLine(text, most.text),
    action: { text: link.text, url: urlOf(link.path, envelope) },
  };
};

const named = (title: string, { account }: Envelope) => {
  const name = oneLine(account, most.account);
  return { account: name, subject: oneLine(`[${name}] ${title}`, most.title) };
};

const urlOf = (path: string, { origin }: Envelope): string => new URL(path, origin).href;

const ownersFooter = (envelope: Envelope): Letter['footer'] => {
  const { unsubscribeUrl } = envelope;
  const name = isolated(oneLine(envelope.account, most.account));
  const choose = {
    text: 'Choose which mails you get',
    url: urlOf('/dashboard/me#mail', envelope),
  };
  const stop = unsubscribeUrl === undefined ? [] : [{ text: 'Unsubscribe', url: unsubscribeUrl }];
  return {
    why: `You get this mail because you can sign in to the account ${name} on Animal Store.`,
    actions: [choose, ...stop],
  };
};

const personalFooter: Letter['footer'] = {
  why: 'You get this mail because it is about your own access to Animal Store. Such mails cannot be switched off.',
  actions: [],
};

const controls = /[\p{Cc}\p{Zl}\p{Zp}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]+/gu;
const rightToLeft =
  /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u;
const lineLength = 72;

/** Shortens untrusted text to one line, which can neither end a header nor reorder the words around it. */
export const oneLine = (text: string, most: number): string => {
  const read = text.slice(0, 4 * most).toWellFormed();
  const line = [...read.replace(controls, ' ').trim()];
  return line.length > most ? `${line.slice(0, most - 1).join('')}…` : line.join('');
};

/** Isolates a name that may read from right to left (Unicode UAX 9). */
export const isolated = (name: string): string =>
  rightToLeft.test(name) ? `\u2068${name}\u2069` : name;

export const wrapped = (paragraph: string): string => {
  const lines: string[] = [];
  for (const word of paragraph.split(' ')) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + 1 + word.length <= lineLength)
      lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines.join('\n');
};
