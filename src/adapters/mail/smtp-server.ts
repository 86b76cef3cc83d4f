import type SMTPTransport from 'nodemailer/lib/smtp-transport';

const second = 1000;

export const smtpOptions = (smtpUrl: string): SMTPTransport.Options => {
  const { protocol, hostname, port, username, password } = new URL(smtpUrl);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const secure = protocol === 'smtps:';
  const hasUser = username !== '';
  return {
    host,
    port: port === '' ? (secure ? 465 : hasUser ? 587 : 25) : Number(port),
    secure,
    ...(!secure && encryption(hasUser, isThisMachine(host))),
    ...(hasUser && {
      auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) },
    }),
    connectionTimeout: 10 * second,
    greetingTimeout: 10 * second,
    dnsTimeout: 10 * second,
    socketTimeout: 30 * second,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
};

/** Never sends a password unencrypted, except to this machine. */
const encryption = (hasUser: boolean, isHere: boolean): SMTPTransport.Options => {
  if (isHere) return { ignoreTLS: true };
  return hasUser ? { requireTLS: true } : { opportunisticTLS: true };
};

const isThisMachine = (host: string): boolean => /^(localhost|127(\.\d{1,3}){3}|::1)$/.test(host);

export const shownServer = (smtpUrl: string): string => {
  const { hostname, port } = new URL(smtpUrl);
  return port === '' ? hostname : `${hostname}:${port}`;
};
