import { expect, test } from '@jest/globals';
import { DirectUnpacking } from '../../support/sites/direct-unpacking.ts';
import { allOf } from '../../support/sites/sites.ts';
import { SiteDisk, siteOf } from './site-disk.ts';

const room = { plan: 'pro', quota: 1000, left: 1000 };

test('an upload is stored as a site of two files, until it is removed', async () => {
  const disk = new SiteDisk();
  const place = { deployId: 'dep_1', room };
  const contents = await new DirectUnpacking(disk, siteOf).unpack(place, 'birds', () => undefined);
  const files = (await disk.list('dep_1')) ?? [];
  expect(files.map(({ path }) => path)).toEqual(['index.html', 'site.css']);
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  expect(contents).toEqual({ files: 2, bytes, leftOut: 0 });
  const [page] = files;
  if (!page) throw new Error('no page');
  expect(String(await allOf(disk.read('dep_1', page, 'identity')))).toBe('<h1>birds</h1>');
  const range = { first: 4, last: 8 };
  expect(String(await allOf(disk.read('dep_1', page, 'identity', range)))).toBe('birds');
  await disk.remove('dep_1');
  expect([await disk.list('dep_1'), disk.deployIds]).toEqual([undefined, []]);
});

test('an upload without room for it is refused, and is no deploy', async () => {
  const disk = new SiteDisk();
  const place = { deployId: 'dep_1', room: { ...room, left: 3 } };
  const unpacked = new DirectUnpacking(disk, siteOf).unpack(place, 'birds', () => undefined);
  await expect(unpacked).rejects.toMatchObject({ code: 'storage_quota_reached' });
  expect(disk.deployIds).toEqual([]);
});
