import type { Project } from '../../../sites/domain/project.ts';
import { siteLimits } from '../../../sites/domain/site-contents.ts';
import { html, type Html } from '../frame/html.ts';
import { field } from '../frame/form-parts.ts';
import { copyButton, count, empty } from '../frame/parts.ts';
import type { Refusal } from '../frame/screen.ts';
import { largestUpload, uploadField } from './upload-file.ts';

const accept = '.zip,.tar.gz,.tgz,application/zip,application/gzip';

const hint =
  `A .zip, .tar.gz or .tgz with index.html at its top: ${count(siteLimits.entries)} files and ` +
  `${siteLimits.bytes / 1024 / 1024} MiB at most, unpacked.`;

/** With the script it shows how far it is; without, the browser does. */
export const uploadForm = ({ slug }: Project, refusal: Refusal | undefined): Html =>
  html`<form method="post" action="/dashboard/projects/${slug}/deploys" enctype="multipart/form-data"
      data-upload data-largest="${largestUpload}">
    ${field({ label: 'Site archive', name: uploadField, type: 'file', accept, hint }, refusal)}
    <div class="stack progress" hidden>
      <progress aria-label="Upload"></progress>
      <div class="row between"><output></output> <button type="button" class="bare" data-cancel>Cancel</button></div>
    </div>
    <div><button class="main">Deploy</button></div>
  </form>`;

/** Before the first deploy: what to upload, and how else it can be done. */
export const howToDeploy = ({ slug }: Project): Html => {
  const command = `animal-store deploy ./site --project ${slug}`;
  return empty(
    'Nothing published yet',
    html`Pack the folder of your site, with <code>index.html</code> at its top, and upload it above. Visitors get it
      as soon as it is unpacked. Or publish the folder from a terminal on the server:`,
    html`<div class="row"><code>${command}</code> ${copyButton(command, 'the command')}</div>`,
  );
};
