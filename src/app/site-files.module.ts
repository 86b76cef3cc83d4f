import { FileSystemSiteFiles } from '../adapters/storage/file-system-site-files.ts';
import { SiteFiles } from '../sites/ports.ts';
import { ConfigKey } from './keys.ts';
import { deploysFolder } from './settings/addresses.ts';
import { wiring } from './wiring.ts';

/** The files of deploys in a folder, for the edge and for all that publishes. */
export const siteFiles = wiring((once) => {
  once(SiteFiles, (c) => new FileSystemSiteFiles(deploysFolder(c.get(ConfigKey))));
});
