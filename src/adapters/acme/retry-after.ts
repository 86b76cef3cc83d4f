/** Characters; an HTTP date has 29. */
const longestDate = 64;

/**
 * When to ask again (RFC 9110, section 10.2.3): seconds, or an HTTP date.
 * @returns undefined for what is neither
 */
export const retryAfter = (header: string | undefined, now: Date): Date | undefined => {
  if (header === undefined || header.length > longestDate) return undefined;
  const at = /^\d{1,10}$/.test(header)
    ? now.getTime() + Number(header) * 1000
    : Date.parse(/^[A-Z][a-z]+, /.test(header) ? header : '');
  return Number.isNaN(at) ? undefined : new Date(at);
};

/** How long that is from now, held between two bounds: an authority may ask for anything. */
export const waitMs = (
  header: string | undefined,
  now: Date,
  { least, most, otherwise }: { least: number; most: number; otherwise: number },
): number => {
  const at = retryAfter(header, now);
  if (at === undefined) return otherwise;
  return Math.min(Math.max(at.getTime() - now.getTime(), least), most);
};
