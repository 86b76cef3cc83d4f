/**
 * A separate process that publishes a deploy in an object store: `node upload-deploy.ts JSON`. Its credentials are in
 * the environment.
 */
import type { S3Place } from '../../../src/adapters/storage/s3/s3-calls.ts';
import { processOn } from './object-store-files.ts';
import { inPieces } from './sites.ts';

export interface UploadOrder {
  readonly place: S3Place;
  readonly folder: string;
  readonly deployId: string;
  readonly files: readonly { readonly path: string; readonly bytes: number }[];
}

const order = JSON.parse(process.argv[2] ?? '{}') as UploadOrder;
const draft = await processOn(order).files.begin(order.deployId);
for (const [at, { path, bytes }] of order.files.entries()) {
  await draft.write(path, inPieces(Buffer.alloc(bytes, `file ${at} `)));
}
await draft.commit(() => undefined);
