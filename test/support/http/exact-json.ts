type SourceReviver = (
  key: string,
  value: unknown,
  context: { readonly source?: string },
) => unknown;

/** JSON with every integer as a bigint, digit for digit; `1.0` and `1e3` stay numbers and so match no id. */
export const exactJson = (text: string): unknown => {
  const reviver: SourceReviver = (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && /^-?\d+$/.test(source)
      ? BigInt(source)
      : value;
  return JSON.parse(text, reviver as (key: string, value: unknown) => unknown);
};
