const shape = /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]{3,}$/u;
/** Characters (RFC 5321, section 4.5.3.1.3, without the brackets). */
const longest = 254;

/** How an address is kept and looked up. */
export const emailOf = (text: string): string => text.trim().toLowerCase();

/** Whether mail may reach it; only sending some would tell. @param email as `emailOf` gives it */
export const isEmail = (email: string): boolean =>
  email.length <= longest && shape.test(email) && hasInnerDot(email) && email.isWellFormed();

/** A dot in the domain that is neither its first nor its last character. */
const hasInnerDot = (email: string): boolean =>
  email.slice(email.indexOf('@') + 2, -1).includes('.');
