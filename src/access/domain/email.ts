const atom = "[\\p{L}\\p{N}\\p{M}!#$%&'*+/=?^_`{|}~-]+";
const label = '(?!-)[\\p{L}\\p{N}\\p{M}-]{1,63}(?<!-)';
/**
 * Without quotes, comments and brackets, which mail programs take away: what is stored and counted has to be the address
 * that gets the mail (RFC 5321, section 4.1.2; beyond ASCII, RFC 6531).
 */
const shape = new RegExp(`^${atom}(?:\\.${atom})*@(?:${label}\\.)+(?!\\p{N}+$)${label}$`, 'u');
/** Characters (RFC 5321, section 4.5.3.1: the whole without the brackets, and what is before the `@`). */
const longest = { all: 254, local: 64 } as const;

/** The form in which an address is stored and looked up. */
export const emailOf = (text: string): string => text.trim().toLowerCase();

/** A plausibility check; only sending mail would prove the address. @param email as `emailOf` gives it */
export const isEmail = (email: string): boolean =>
  email.length <= longest.all &&
  email.indexOf('@') <= longest.local &&
  // Other spellings of the same letters would be other addresses to us only.
  email === email.normalize('NFKC') &&
  shape.test(email);
