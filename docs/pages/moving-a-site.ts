/** How an owner moves a site that is somewhere else. */
export const movingASite: readonly string[] = [
  '### Moving a running site without a gap',
  'With the record for [validation by DNS](#validation-by-dns), you get the certificate before your visitors come. So nobody meets an ' +
    'error while you move a site that runs elsewhere:',
  [
    '1. Add the domain here. Change nothing at the old server, which goes on serving your visitors.',
    '2. Create the record `_acme-challenge` that we show. Leave the old A, AAAA or CNAME record of the name as it is.',
    '3. Wait, or press **Verify**. Within minutes the page says "Certificate ready". The domain stays `added`, and you can take your time: we ' +
      'renew the certificate for as long as the record is there.',
    '4. Look at the site here before anybody else does, with the address of our edge in place of `192.0.2.10`.',
    '5. Lower the TTL of the old record, and wait for the old TTL to expire.',
    '6. Replace the old record with the CNAME, ALIAS or ANAME record that we show. From now on each visitor gets the site from the old server or from here, ' +
      'depending on what their resolver remembers.',
    '7. The domain becomes `verified` and `live` in one step, when we see the change: within an hour, or at once when you press **Verify**. ' +
      'Visitors do not have to wait for that: we serve the site from the moment on at which the certificate is ready.',
    '8. Keep the old server running until the old TTL has expired everywhere; some resolvers take up to 48 hours.',
  ].join('\n'),
  [
    '```sh\n',
    './animal-store domain show shop.example.com --project birds\n',
    'curl --connect-to shop.example.com:443:192.0.2.10:443 https://shop.example.com/\n',
    '```',
  ].join(''),
  'The page after step 3. The third record is seen, the first one is still that of the old server:',
  '![A domain with its certificate ready, whose traffic is still elsewhere](screenshots/domain-ready-light.webp)',
  'While the record `_acme-challenge` is gone, nothing proves that the name is yours: we do not serve the site under it, and do not renew the ' +
    'certificate. When the record is back, the certificate is ready again. If the certificate ends before that, it is deleted. After 30 days without the record, the domain is removed as one that was never verified. A redirect to ' +
    'the domain is in force once the domain is live.',
  'While another account has the name verified or live, there is no certificate in advance, and none is needed: when you [prove the name](#when-somebody-else-has-the-name), you get its certificate, too. If a CAA record does not allow `dns-01`, there is none either.',
];
