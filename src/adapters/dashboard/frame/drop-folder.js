// Packs a folder that is dropped on the form of a deploy, or chosen there, so that it is sent as an archive. Loaded only on
// pages that have such a form, when somebody drops something or chooses a folder.
import { Zip, ZipDeflate } from 'fflate/browser';

/** The files below an entry of a drop, with their paths. */
const filesIn = async (entry, path = entry.name) => {
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    return [{ path, file }];
  }
  const found = [];
  const reader = entry.createReader();
  // A reader gives some at a time.
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return found;
    for (const one of some) found.push(...(await filesIn(one, `${path}/${one.name}`)));
  }
};

const topOf = ({ path }) => path.split('/')[1];

/** @returns what the form says instead of taking the folder */
const refusalOf = (files, unwanted) => {
  const name = files.map(topOf).find((one) => Object.hasOwn(unwanted, one));
  return (
    name &&
    `It has "${name}" at its top. ${unwanted[name]}, and is not part of a site: choose the folder that your build makes.`
  );
};

/** One file after the other, so that the page stays alive. */
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

/** Puts a file into the field, as if it had been chosen there. */
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

/** @param dropped the first entry, and the files that are no folders */
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
