import { shownServer, smtpOptions } from '../../adapters/mail/smtp-server.ts';
import type { Config } from '../settings/config.ts';
import type { ServerTrouble } from '../../adapters/mail/smtp-postman.ts';
import { failed, ok, type Finding } from './finding.ts';

/** Connects to the mail server and signs in; sends no mail. */
export const checkMail = async ({
  smtpUrl,
}: Pick<Config, 'smtpUrl'>): Promise<readonly Finding[]> => {
  if (smtpUrl === undefined) return [ok('Not used: no mail is sent.')];
  const where = shownServer(smtpUrl);
  const { tryServer } = await import('../../adapters/mail/smtp-postman.ts');
  const problem = await tryServer(smtpOptions(smtpUrl));
  if (!problem) return [ok(`${where} takes mail from us. None was sent.`)];
  return [failed(`${where}: ${problem.reason}`, adviceOn(problem))];
};

const adviceOn = ({ code, reason }: ServerTrouble): string => {
  const isCertificate = reason.includes('certificate');
  switch (isCertificate ? 'ETLS' : code) {
    case 'EAUTH':
    case 'ENOAUTH':
      return 'Correct the user and the password in SMTP_URL.';
    case 'ETLS':
      return 'The server must offer TLS with a valid certificate for its name. Try smtps:// and its port.';
    case 'EDNS':
      return 'Correct the host in SMTP_URL.';
    default:
      return 'Check that it runs, and the host and the port in SMTP_URL. smtps:// is for servers that speak TLS from the beginning.';
  }
};
