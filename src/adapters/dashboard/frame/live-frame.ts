/** The part of a page that viewers receive. */
export interface LiveFrame {
  /** Without the parts that differ in each rendering, so that frames with equal content are equal. */
  readonly news: string;
  /** The markup as JSON text, split where each viewer gets their own id. */
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
