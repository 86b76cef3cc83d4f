import { passwordText } from '../../src/access/domain/password.ts';
import { Passwords } from '../../src/access/people-ports.ts';

const prefix = 'plain:';

/** Fast, and does not hide the password. */
export class PlainPasswords extends Passwords {
  override hash(password: string): Promise<string> {
    return Promise.resolve(prefix + passwordText(password));
  }

  override matching(password: string, hashes: readonly string[]): Promise<readonly string[]> {
    const right = prefix + passwordText(password);
    return Promise.resolve(hashes.filter((hash) => hash === right));
  }

  override commonest(): Promise<ReadonlySet<string>> {
    return Promise.resolve(new Set(['password', 'qwerty', 'dragon', 'sonyericsson']));
  }
}
