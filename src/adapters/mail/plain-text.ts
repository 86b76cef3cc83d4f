/** Ends of lines, other control characters, and marks that turn the direction of what follows. */
const controls = /[\p{Cc}\p{Zl}\p{Zp}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]+/gu;
const rightToLeft =
  /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u;
const lineLength = 72;

/**
 * A text of others as one line, at most so many characters long. It can neither end a header nor change the order of the
 * words around it.
 */
export const oneLine = (text: string, most: number): string => {
  // A character takes at most two places; what is far beyond the limit need not be read.
  const read = text.slice(0, 4 * most).toWellFormed();
  const line = [...read.replace(controls, ' ').trim()];
  return line.length > most ? `${line.slice(0, most - 1).join('')}…` : line.join('');
};

/** A name within a line that reads from left to right; one that may read the other way is isolated (Unicode UAX 9). */
export const isolated = (name: string): string =>
  rightToLeft.test(name) ? `\u2068${name}\u2069` : name;

/** In lines of at most 72 characters; a longer word, like an address, has a line of its own. */
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
