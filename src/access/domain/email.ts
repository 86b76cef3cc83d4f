const shape = /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+\.[^\s@\p{Cc}]+$/u;
/** Asked first: the expression takes long for long texts. */
const longest = 254;

/** How an address is kept and looked up. */
export const emailOf = (text: string): string => text.trim().toLowerCase();

/** Whether mail may reach it; only sending some would tell. @param email as `emailOf` gives it */
export const isEmail = (email: string): boolean =>
  email.length <= longest && shape.test(email) && email.isWellFormed();
