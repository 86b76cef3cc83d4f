/** How much of what comes from outside is kept and shown: so many characters of a text, so many texts of a list. */
export const shownAtMost = { characters: 512, records: 20 } as const;

/** Of a list in one sentence. */
const longestList = 400;

export const shortened = (text: string, longest: number = shownAtMost.characters): string =>
  text.length <= longest ? text : `${text.slice(0, Math.max(0, longest - 1))}…`;

/** In words, such as `a, b, and 3 more`. @param texts what matters most first */
export const listed = (texts: readonly string[], separator = ', '): string => {
  const shown: string[] = [];
  let length = 0;
  for (const text of texts.slice(0, shownAtMost.records)) {
    const next = shortened(text, longestList);
    length += next.length;
    if (shown.length > 0 && length > longestList) break;
    shown.push(next);
  }
  const more = texts.length - shown.length;
  return [...shown, ...(more > 0 ? [andMore(more)] : [])].join(separator);
};

export const andMore = (more: number): string => `and ${more} more`;

/** The same in another order: what matters comes first. */
export const firstThose = <Item>(
  items: readonly Item[],
  matters: (item: Item) => boolean,
): readonly Item[] => {
  const split = Map.groupBy(items, matters);
  return [...(split.get(true) ?? []), ...(split.get(false) ?? [])];
};
