/** One element as it was sent, with its content as text. */
export interface Element {
  readonly attributes: Readonly<Record<string, string>>;
  readonly text: string;
}

const attribute = /([\w-]+)(?:="([^"]*)")?/g;

/**
 * Elements of a page by name. Our pages put attributes in double quotation marks and never nest elements of the same
 * name.
 */
export const elementsIn = (markup: string, name: string): readonly Element[] => {
  const whole = new RegExp(`<${name}((?:\\s+[\\w-]+(?:="[^"]*")?)*)\\s*>([^]*?)</${name}>`, 'g');
  const bare = new RegExp(`<${name}((?:\\s+[\\w-]+(?:="[^"]*")?)*)\\s*>`, 'g');
  const pattern = name === 'input' ? bare : whole;
  return [...markup.matchAll(pattern)].map(([, written = '', within = '']) => ({
    attributes: attributesOf(written),
    text: textOf(within),
  }));
};

/** Error messages at the top of a form or beside its fields. */
export const problemsIn = (markup: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    elementsIn(markup, 'p')
      .filter(({ attributes }) => attributes['class'] === 'error')
      .map(({ attributes, text }) => [attributes['id']?.replace(/-error$/, '') ?? 'form', text]),
  );

/** Text as it is displayed. */
export const textOf = (markup: string): string =>
  decoded(markup.replace(/<[^>]*>/g, ' '))
    .replace(/\s+/g, ' ')
    .trim();

const attributesOf = (written: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...written.matchAll(attribute)].map(([, name = '', value = '']) => [name, decoded(value)]),
  );

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  '#39': "'",
};

const decoded = (text: string): string =>
  text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => entities[name] ?? '');
