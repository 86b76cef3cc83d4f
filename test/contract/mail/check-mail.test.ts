import { expect, test } from '@jest/globals';
import { checkMail } from '../../../src/app/doctor/check-servers.ts';
import { closedPort, MailServer } from '../../support/servers/mail-server.ts';
import { loopbackTls } from '../../lab/authority/pebble.ts';

test('a server that accepts our mail passes the check, and no mail is sent', async () => {
  const server = await MailServer.start();
  expect(await checkMail({ smtpUrl: server.url })).toEqual([
    { state: 'ok', seen: `127.0.0.1:${server.port} accepts mail from us. None was sent.` },
  ]);
  expect(server.taken).toEqual([]);
  await server.stop();
});

test('the failures for a wrong password, an untrusted certificate and a closed port say what to do, without the password', async () => {
  const tls = await loopbackTls();
  const refusing = await MailServer.start({
    authOptional: false,
    onAuth: (_auth, _session, done) => {
      done(new Error('Wrong password'));
    },
    allowInsecureAuth: true,
  });
  const encrypted = await MailServer.start({ ...tls, secure: true });
  const found = await Promise.all(
    [
      `smtp://store:secret@127.0.0.1:${refusing.port}`,
      `smtps://store:secret@127.0.0.1:${encrypted.port}`,
      `smtp://store:secret@127.0.0.1:${await closedPort()}`,
    ].map((smtpUrl) => checkMail({ smtpUrl })),
  );
  const advice = found.flat().map((one) => one.advice);
  expect(found.flat().map(({ state }) => state)).toEqual(['failed', 'failed', 'failed']);
  expect(advice[0]).toContain('password');
  expect(advice[1]).toContain('certificate');
  expect(advice[2]).toContain('port');
  expect(JSON.stringify(found)).not.toContain('secret');
  await Promise.all([refusing.stop(), encrypted.stop()]);
});

test('the check does nothing without a mail server', async () => {
  expect(await checkMail({ smtpUrl: undefined })).toMatchObject([{ state: 'ok' }]);
});
