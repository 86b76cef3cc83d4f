/** New ids from outside: unique for ever over all processes, URL-safe, at most 40 characters. */
export abstract class Ids {
  /** @param prefix the kind of thing, e.g. `acct` gives `acct_…` */
  abstract next(prefix: string): string;
}
