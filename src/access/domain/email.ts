const shape = /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]{3,}$/u;
/** Characters (RFC 5321, section 4.5.3.1.3, without the brackets). */
const longest = 254;

/** The form in which an address is stored and looked up. */
export const emailOf = (text: string): string => text.trim().toLowerCase();

/** A plausibility check; only sending mail would prove the address. @param email as `emailOf` gives it */
export const isEmail = (email: string): boolean =>
  email.length <= longest && shape.test(email) && hasInnerDot(email) && email.isWellFormed();

/** A dot in the domain that is neither its first nor its last character. */
const hasInnerDot = (email: string): boolean =>
  email.slice(email.indexOf('@') + 2, -1).includes('.');
