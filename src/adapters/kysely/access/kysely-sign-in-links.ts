import type { AccessEvent } from '../../../access/domain/access-event.ts';
import { personJoined, personNotFound } from '../../../access/domain/access-error.ts';
import type { SignInLinks, SignInLink } from '../../../access/people-ports.ts';
import { AggregateStore } from '../aggregate-store.ts';
import { lockPerson } from './kysely-people.ts';
import { toMillis } from '../schema.ts';
import { signInLinks } from './tables.ts';

export class KyselySignInLinks extends AggregateStore implements SignInLinks {
  async add(
    link: SignInLink,
    events: readonly AccessEvent[],
    whose: 'anybody' | 'newcomer' = 'anybody',
  ): Promise<void> {
    await this.store(async (db) => {
      const person = await lockPerson(this.database, link.personId);
      if (!person) throw personNotFound(link.personId);
      if (whose === 'newcomer' && person.joinedAt) throw personJoined(person.email);
      await db.insertInto('sign_in_links').values(signInLinks.write(link)).execute();
      return { events };
    });
  }

  async personIdOf(secretHash: string, now: Date): Promise<string | undefined> {
    const link = await this.db
      .selectFrom('sign_in_links')
      .select('person_id')
      .where('secret_hash', '=', secretHash)
      .where('ends_at', '>', toMillis(now))
      .executeTakeFirst();
    return link?.person_id;
  }

  async resetsPassword(secretHash: string): Promise<boolean> {
    const link = await this.db
      .selectFrom('sign_in_links')
      .select('resets_password')
      .where('secret_hash', '=', secretHash)
      .executeTakeFirst();
    return link?.resets_password === 1n;
  }
}
