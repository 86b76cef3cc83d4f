// Packs a folder that was dropped on a deploy form or chosen there into an archive. Loaded only when somebody drops
// something or chooses a folder.
import { Zip, ZipDeflate } from 'fflate/browser';

/** Lists all files below a dropped entry, with their paths. */
const filesIn = async (entry, path = entry.name) => {
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    return [{ path, file }];
  }
  const found = [];
  const reader = entry.createReader();
  // A reader returns its entries in batches.
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return found;
    for (const one of some) found.push(...(await filesIn(one, `${path}/${one.name}`)));
  }
};

const topOf = ({ path }) => path.split('/')[1];

/** @returns the message that the form shows if it refuses the folder */
const refusalOf = (files, unwanted) => {
  const name = files.map(topOf).find((one) => Object.hasOwn(unwanted, one));
  return (
    name &&
    `It has "${name}" at its top. ${unwanted[name]}, and is not part of a site: choose the folder that your build makes.`
  );
};

/** Packs one file at a time, so that the page stays responsive. */
const zipped = async (files, onFile) => {
  const pieces = [];
  const zip = new Zip((error, piece) => {
    if (error) throw error;
    pieces.push(piece);
  });
  for (const [at, { path, file }] of files.entries()) {
    const entry = new ZipDeflate(path, { level: 6 });
    zip.add(entry);
    entry.push(new Uint8Array(await file.arrayBuffer()), true);
    onFile(at + 1);
  }
  zip.end();
  return new Blob(pieces, { type: 'application/zip' });
};

/** Sets the field's file, as if the person had chosen it there. */
const choose = (form, file) => {
  const transfer = new DataTransfer();
  transfer.items.add(file);
  const field = form.querySelector('input[type=file][name]');
  field.files = transfer.files;
  field.dispatchEvent(new Event('change', { bubbles: true }));
  form.querySelector('button.main').focus();
};

const take = async (form, files) => {
  const [box, bar, said] = ['.progress', 'progress', 'output'].map((one) =>
    form.querySelector(one),
  );
  box.hidden = false;
  bar.hidden = form.querySelector('[data-cancel]').hidden = true;
  const refusal = refusalOf(files, JSON.parse(form.dataset.unwanted));
  said.textContent = refusal ?? '';
  if (refusal || files.length === 0) return;
  const archive = await zipped(files, (done) => {
    said.textContent = `Packing ${done} of ${files.length} files …`;
  });
  choose(form, new File([archive], `${files[0].path.split('/')[0]}.zip`));
  said.textContent =
    files.length === 1
      ? '1 file is packed. Press Deploy to publish it.'
      : `${files.length} files are packed. Press Deploy to publish them.`;
};

/** @param dropped the first entry, and the files outside folders */
export const takeDrop = async (form, { entry, files }) => {
  if (entry?.isDirectory) return take(form, await filesIn(entry));
  if (files.length === 1) choose(form, files[0]);
};

export const chooseFolder = (form) => {
  const input = Object.assign(document.createElement('input'), {
    type: 'file',
    webkitdirectory: true,
  });
  input.addEventListener('change', () => {
    void take(
      form,
      [...input.files].map((file) => ({ path: file.webkitRelativePath, file })),
    );
  });
  input.click();
};
