/** What a terminal obeys (ECMA-48, also U+0080 to U+009F), or what shows text in another order. */
const commands = /(?!\n)\p{Cc}|\p{Bidi_Control}/gu;

/** A text with data of customers or of their DNS, so that none of it commands the terminal of an operator. */
export const terminalText = (text: string): string => text.replace(commands, '\u{fffd}');

/** The same for JSON, whose values stay as they are. @param json in one line, where they can only be inside texts */
export const terminalJson = (json: string): string =>
  json.replace(commands, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
