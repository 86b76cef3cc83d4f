import * as v from 'valibot';
import { plain, type SettingTable } from './setting.ts';
import { urlLike } from './setting-schemas.ts';

const address = /^[^\s<>@",;:\\()[\]]+@[a-z0-9-]+(\.[a-z0-9-]+)*$/i;
const sender = /^(?:[^<>"\p{Cc}]{1,200}<(?<named>[^<>]+)>|(?<bare>[^<>]+))$/u;

const addressIn = (text: string): string => {
  const { named, bare } = sender.exec(text.trim())?.groups ?? {};
  return named ?? bare ?? '';
};

/** How mail is sent. */
export const mailSettings = {
  SMTP_URL: plain(
    v.pipe(
      v.string(),
      v.check(
        (text) => urlLike(text, ['smtp:', 'smtps:']) && isServerAlone(new URL(text)),
        'must be smtp://user:password@host:port or smtps://user:password@host:port; user, password and port may be left out, other characters in them are percent-encoded',
      ),
    ),
    undefined,
    'mail server that takes our [mail](#mail): `smtp://user:password@host:587` (STARTTLS), or `smtps://…:465` (TLS). Not set: no mail is sent',
  ),
  MAIL_FROM: plain(
    v.pipe(
      v.string(),
      v.check(
        (text) => address.test(addressIn(text)),
        'must be an email address like store@shop.example, or Name <store@shop.example>',
      ),
    ),
    undefined,
    'sender of mail: an address, or `Name <address>`; required with `SMTP_URL`',
  ),
} satisfies SettingTable;

/** Nothing but user, password, host and port; a user has a password. */
const isServerAlone = ({ hostname, pathname, search, hash, username, password }: URL): boolean =>
  hostname !== '' &&
  (pathname === '' || pathname === '/') &&
  search === '' &&
  hash === '' &&
  (username === '') === (password === '') &&
  isDecodable(username) &&
  isDecodable(password);

const isDecodable = (text: string): boolean => {
  try {
    return decodeURIComponent(text) !== '\0';
  } catch {
    return false;
  }
};
