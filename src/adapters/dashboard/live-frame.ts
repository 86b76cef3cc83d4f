/** What of a page is sent to those who look at it. */
export interface LiveFrame {
  /** Without what differs each time that a page is made: two frames with the same news look the same. */
  readonly news: string;
  /** The markup as JSON text, cut wherever everybody gets an id of their own. */
  readonly parts: readonly string[];
}

export const frameOf = (markup: string): LiveFrame => ({
  news: newsIn(markup),
  parts: markup.split(onceValue).map((part) => JSON.stringify(part).slice(1, -1)),
});

/** @param newId for `onceInput`: of two people who send a form, both have sent it */
export const pageEvent = ({ parts }: LiveFrame, newId: () => string): string => {
  const [first = '', ...rest] = parts;
  return `event: page\ndata: "${rest.reduce((text, part) => text + newId() + part, first)}"\n\n`;
};

const onceValue = /(?<=name="once" value=")[^"]*/;

/** The browser itself keeps the words for times up to date. */
const newsIn = (markup: string): string =>
  markup
    .replace(/(<time [^>]*data-relative>)[^<]*/g, '$1')
    .replace(/(name="once" value=")[^"]*/g, '$1');
