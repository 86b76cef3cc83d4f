import * as v from 'valibot';
import { plain, secret, type SettingTable } from './setting.ts';
import { hasNoUser, urlLike } from './setting-schemas.ts';

/** As HTTP allows it, once the value is decoded: otherwise every batch of spans would be lost. */
const isHeader = (pair: string): boolean => {
  const [, value] = /^\s*[\w!#$%&'*+.^`|~-]+=(.*)$/.exec(pair) ?? [];
  if (value === undefined) return false;
  try {
    return /^[\t\x20-\x7e]*$/.test(decodeURIComponent(value));
  } catch {
    return false;
  }
};

/** By the names that OpenTelemetry gives them; its packages read some of them by themselves. */
export const tracingSettings = {
  OTEL_EXPORTER_OTLP_ENDPOINT: plain(
    v.pipe(
      v.string(),
      v.check(hasNoUser, 'must not contain a user or a password; use OTEL_EXPORTER_OTLP_HEADERS'),
      v.check(
        (text) => urlLike(text, ['http:', 'https:']) && /^[^?#]*$/.test(text),
        'must be an http or https address, like http://127.0.0.1:4318',
      ),
    ),
    undefined,
    'receiver of [traces](#traces) over OTLP/HTTP, such as `http://127.0.0.1:4318`. Not set: no traces',
  ),
  OTEL_EXPORTER_OTLP_HEADERS: secret(
    v.pipe(
      v.string(),
      v.check(
        (text) => text.split(',').every(isHeader),
        'must be a list like NAME=VALUE,NAME=VALUE, with percent-encoded values',
      ),
    ),
    'headers for the receiver, such as `Authorization=Bearer%20…`; comma-separated, percent-encoded',
  ),
  OTEL_SERVICE_NAME: plain(
    v.string(),
    undefined,
    'name of this service in traces. Not set: `service.name` in `OTEL_RESOURCE_ATTRIBUTES`, or `animal-store`',
  ),
  OTEL_RESOURCE_ATTRIBUTES: plain(
    v.string(),
    undefined,
    'what else each trace says of this process: `deployment.environment.name=staging,…`',
  ),
  OTEL_TRACES_SAMPLER: plain(
    v.picklist(
      [
        ...(['always_on', 'always_off', 'traceidratio'] as const),
        ...([
          'parentbased_always_on',
          'parentbased_always_off',
          'parentbased_traceidratio',
        ] as const),
      ],
      'must be always_on, always_off or traceidratio, with or without parentbased_ before it',
    ),
    'parentbased_always_on',
    'which requests are recorded: `always_on`, `always_off` or `traceidratio`. With `parentbased_` in front they mean the same, because [callers do not decide](#traces)',
  ),
  OTEL_TRACES_SAMPLER_ARG: plain(
    v.pipe(
      v.string(),
      v.regex(/^(0|1|0?\.\d{1,9}|1\.0{1,9})$/, 'must be a share from 0 to 1, like 0.1'),
      v.transform(Number),
    ),
    '1',
    'share that `traceidratio` records, from 0 to 1',
  ),
} satisfies SettingTable;
