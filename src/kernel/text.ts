/**
 * A line of text for people: trimmed, 1 to `longest` Unicode code points, well-formed (no half of a surrogate
 * pair) and without control characters, to which
 * belong all line breaks here.
 */
export const isLine = (text: string, longest: number): boolean => {
  // A code point takes at most two places in a text: longer ones need not be counted.
  if (text.length > 2 * longest) return false;
  const length = [...text].length;
  return (
    length >= 1 &&
    length <= longest &&
    text === text.trim() &&
    text.isWellFormed() &&
    !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text)
  );
};

/** A line that names something of an owner: no direction mark makes it look like another name, or turns the words after it. */
export const isName = (text: string, longest: number): boolean =>
  isLine(text, longest) && !/\p{Bidi_Control}/u.test(text);
