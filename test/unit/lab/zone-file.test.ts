import { expect, test } from '@jest/globals';
import { readZoneFile, writeZoneFile, type Zone } from '../../lab/dns/zone.ts';

const zone: Zone = {
  'www.shop.test': { CNAME: ['t-1.sites.platform.test'] },
  '_acme-challenge.www.shop.test': { CNAME: ['t-1.acme.platform.test'] },
  '*.shop.test': { A: ['192.0.2.1', '192.0.2.2'], AAAA: ['2001:db8::1'] },
  'shop.test': {
    ALIAS: ['t-2.sites.platform.test'],
    TXT: ['one', 'two words'],
    CAA: [
      { flags: 0, tag: 'issue', value: ';' },
      { flags: 0, tag: 'issue', value: 'ca.lab.test; validationmethods=dns-01' },
      { flags: 128, tag: 'issuewild', value: 'second.lab.test' },
    ],
  },
};

test('the lab shows records that buttons created as lines that it can read back as the same records', () => {
  expect(readZoneFile(writeZoneFile(zone))).toEqual({ zone, problems: [] });
});
