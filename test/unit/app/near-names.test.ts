import { expect, test } from '@jest/globals';
import { nearNames } from '../../../src/app/settings/warnings.ts';
import { settings } from '../../../src/app/settings/settings.ts';

const names = Object.keys(settings);
const warnings = (variable: string) => nearNames({ [variable]: 'x' }, names);

test.each([
  ['DATABSE_URL', 'DATABASE_URL'],
  ['DATABASE_URI', 'DATABASE_URL'],
  ['PUBLIC_ULR', 'PUBLIC_URL'],
  ['PLATFORM_ADDRESS', 'PLATFORM_ADDRESSES'],
  ['SECRETKEY', 'SECRET_KEY'],
  ['database_url', 'DATABASE_URL'],
])('%s is taken for %s', (variable, setting) => {
  expect(warnings(variable)).toEqual([
    `${variable} is not a setting and has no effect. Did you mean ${setting}?`,
  ]);
});

test.each([
  ...['DATABASE_URL_FILE', 'HOSTNAME', 'AWS_REGION', 'OTEL_LOGS_EXPORTER', 'PORTS', 'EDITOR'],
  ...['NODE_EXTRA_CA_CERTS', 'NODE_OPTIONS', 'SSL_CERT_FILE', 'XDG_DATA_DIRS', 'HTTP_PROXY'],
])('%s is nothing of ours', (variable) => {
  expect(warnings(variable)).toEqual([]);
});

test.each(names)('%s itself brings no warning', (name) => {
  expect(warnings(name)).toEqual([]);
});
