import * as v from 'valibot';
import { plain, type SettingTable } from './setting.ts';
import { hasNoUser, limit, urlLike } from './setting-schemas.ts';

/** Where the files of deploys are, if not in the data folder. */
export const storageSettings = {
  DEPLOYS_URL: plain(
    v.pipe(
      v.string(),
      v.check(
        (text) => !/^s3:\/\/[^/]{1,2}(\/|$)/.test(text),
        'the name of the bucket is too short: it must have 3 to 63 characters',
      ),
      v.regex(
        /^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/[\w!'()*.-]+)*\/?$/,
        'must be s3://BUCKET or s3://BUCKET/PREFIX, without a user, a password or a query',
      ),
    ),
    undefined,
    'bucket for the files of deploys, and what their keys begin with: `s3://bucket/prefix`; see [object store](#deploys-in-an-object-store). Not set: the folder `deploys` in `DATA_DIR`',
  ),
  S3_ENDPOINT: plain(
    v.pipe(
      v.string(),
      v.check(hasNoUser, 'must not contain a user or a password'),
      v.check(
        (text) => urlLike(text, ['http:', 'https:']) && /^[^?#]*$/.test(text),
        'must be an http or https address, like https://s3.shop.example:9000',
      ),
      v.transform((text) => new URL(text).href),
    ),
    undefined,
    'address of an object store that is not AWS. Not set: AWS',
  ),
  S3_REGION: plain(
    v.pipe(v.string(), v.regex(/^[\w-]+$/, 'must be the name of a region, like eu-central-1')),
    undefined,
    'region of the bucket. Not set: `us-east-1` with `S3_ENDPOINT`, else `AWS_REGION` or the profile of the user',
  ),
  DEPLOYS_CACHE_GIB: plain(
    limit,
    '4',
    'GiB of disk that the edges of a machine use for files from the object store',
  ),
} satisfies SettingTable;
