/** `?page=2&added=www.birds.test`: the fields that have a value; empty if none has. */
export const queryText = (
  fields: Readonly<Record<string, string | bigint | undefined>>,
): string => {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) query.set(name, String(value));
  }
  return query.size === 0 ? '' : `?${query.toString()}`;
};
