import { Passwords } from '../../access/people-ports.ts';

const prefix = 'plain:';

/** Costs nothing and hides nothing. */
export class PlainPasswords extends Passwords {
  override hash(password: string): Promise<string> {
    return Promise.resolve(prefix + password.normalize('NFKC'));
  }

  override matches(password: string, hash: string | undefined): Promise<boolean> {
    return Promise.resolve(hash === prefix + password.normalize('NFKC'));
  }

  override commonest(): Promise<ReadonlySet<string>> {
    return Promise.resolve(new Set(['password', 'qwerty', 'dragon', 'sonyericsson']));
  }
}
