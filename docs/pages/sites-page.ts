import { keptDeploys } from '../../src/sites/domain/deploy.ts';
import { unpackingLimits } from '../../src/adapters/threads/threaded-unpacking.ts';
import { siteLimits } from '../../src/sites/domain/site-contents.ts';
import { uploadProblems, type UploadProblem } from '../../src/sites/domain/sites-error.ts';
import { code, list, page, printed, table } from './markdown.ts';
import {
  cacheControls,
  endings,
  entries,
  exampleHeaders,
  isSmaller,
  places,
  siteFiles,
} from './site-examples.ts';

export const sitesPage = (): string =>
  page(
    '# Sites',
    printed('the rules in src/sites, src/adapters/edge and src/adapters/storage'),
    'For those who publish a site, and for those who visit it with a program. ' +
      'How to publish one, step by step: [the tour](tour.md#publish-a-site). ' +
      'How it is run: [operations](operations.md#edge).',
    'A site is a project: files, and nothing that runs on the server. Its address is ' +
      '`https://<slug>.<platform host>/`, where the slug is made from the name of the project. Every deploy ' +
      'brings a whole new version, which replaces the one before at once and as a whole. ' +
      `The last ${String(keptDeploys)} deploys and the served one are kept, and each that succeeded can be ` +
      'served again: `./animal-store project roll-back`. What is deployed after that is served as usual.',
    '## What a deploy may hold',
    'A folder, or an archive: `.zip`, `.tar.gz` or `.tgz`. What an archive is, is told by its content, not by its name.',
    table(['What', 'Limit'], limits()),
    'They are counted while it is unpacked, whatever an archive says of itself. An entry is a file or a folder, ' +
      'also one that is left out.',
    table(['Entry', 'Published as'], entries()),
    'There has to be an `index.html` at the top: pack what is inside the folder of the site, not the folder. ' +
      'Files and folders whose names begin with a dot are left out, but for `.well-known`, and so is `__MACOSX`, which macOS adds to ' +
      'archives. Empty folders are nothing. Letters count as they are, upper or lower case; accents are written ' +
      'in one way (Unicode NFC).',
    'All deploys that an account keeps count together, unpacked: the smaller forms that we make cost nothing. An account ' +
      'never keeps more than its plan allows, however many uploads run at once; see [limits](limits.md#projects-and-files). What is full, ' +
      'you empty on the page of a project (Delete), or with `./animal-store project delete-deploy`. The served deploy cannot be deleted.',
    '## Names that are reserved',
    'A project whose name would give it an address such as `www`, `app`, `api`, `admin`, `mail`, `static` or `dashboard` gets a number ' +
      'behind it (`app-2`): visitors could take it for a part of this service.',
    '## Why a deploy is refused',
    'A refused deploy publishes nothing: what was served before still is. It stays in `project deploys` with its ' +
      'code (`problem`) and a sentence that names the file, where there is one (`explanation`). The first fault that is found counts.',
    table(
      ['Code', 'Meaning', 'What to do'],
      uploadProblems.map((problem) => [code(problem), ...told[problem]]),
    ),
    'A file that is no archive at all is refused before there is a deploy.',
    '## How files are found',
    `Say that a site has ${list(siteFiles)}:`,
    table(['Path', 'Answer'], places()),
    'The first that exists is taken: the file itself, the file with `.html` behind it, the folder with its ' +
      '`index.html`. The query does not matter. Folders are never listed, and there are no rewrites. What is ' +
      'not there is answered with the `404.html` at the top of the site, if it has one, and with status 404.',
    'The type comes from the ending of the name; a name without a known one is `application/octet-stream`. Text is ' +
      'announced as UTF-8: save it so.',
    '## Caching',
    'Every version of a file has an `ETag` of its own, made from its content. A client that sends it in ' +
      '`If-None-Match` gets 304 without a body while it is right. How long it may go without asking:',
    table(['File', '`Cache-Control`'], cacheControls()),
    'So a new deploy shows at the next visit. Scripts, styles and fonts are kept for a year where a bundler put a ' +
      'hash of their content into the name, behind a dot or a dash: 8 hex digits or more, or 8 capitals and ' +
      'digits, a letter and a digit among them.',
    '## Compression',
    'Smaller forms of text and the like are made once, while it is deployed: brotli, and gzip. ' +
      '`Accept-Encoding` says which one a client takes. Tiny files, and those that hardly shrink, stay as they are.',
    table(
      ['Compressed', 'As they are'],
      [[list(endings.filter(isSmaller)), list(endings.filter((ending) => !isSmaller(ending)))]],
    ),
    'Each form has its own `ETag`. The whole answer, for a stylesheet in its brotli form:',
    ['```', 'HTTP/2 200', ...exampleHeaders(), '```'].join('\n'),
    '## Ranges',
    '`Range: bytes=…` gets 206 and that part of the file itself, not of a smaller form. `If-Range` with an `ETag` that is not ' +
      'right any more gets the whole, and so do several ranges at once. A range behind the end gets 416.',
    '## Other answers',
    table(['Status', 'When'], others),
    'They have no body but the status in words, and nothing of any site.',
  );

const mib = (bytes: number) => `${String(bytes / 1024 / 1024)} MiB`;

export const limits = (): readonly (readonly string[])[] => [
  ['files and folders, also folders that only paths name', String(siteLimits.entries)],
  ['all published files, unpacked', mib(siteLimits.bytes)],
  ['a path, in UTF-8', `${String(siteLimits.pathBytes)} bytes`],
  ['a name in it', `${String(siteLimits.nameBytes)} bytes`],
  ['folders within each other', String(siteLimits.folders)],
];

/** What its owner does about each refusal. A new one does not compile until it is told. */
const told: Readonly<Record<UploadProblem, readonly [meaning: string, advice: string]>> = {
  archive_unreadable: [
    'The archive is damaged or incomplete, or a file or folder cannot be read.',
    'Pack it again and upload all of it; see that you may read every file.',
  ],
  archive_unsupported: [
    'It is an archive of another kind, encrypted, in several parts, or packed in an unusual way.',
    'Pack it as `.zip`, `.tar.gz` or `.tgz`, without a password.',
  ],
  archive_unsafe_path: [
    'A path is absolute, leads out of the site, is too long or too deep, or has what no path may have.',
    'Pack from within the folder of the site; rename the file that is named.',
  ],
  archive_link: [
    'Something in it is a link, symbolic or hard, or a device.',
    'Put the file itself in its place.',
  ],
  archive_duplicate_path: [
    'Two entries have one path, or a path is a file and a folder at once.',
    'Keep one of them, or rename it.',
  ],
  archive_too_many_entries: [
    `It has more than ${String(siteLimits.entries)} files and folders.`,
    'Leave out what visitors do not need.',
  ],
  archive_too_large: [
    `Unpacked it is larger than ${mib(siteLimits.bytes)}.`,
    'Leave out or shrink what is largest.',
  ],
  archive_too_costly: [
    `To unpack and compress it took longer than ${String(unpackingLimits.deadlineMs / 60_000)} minutes, or more than ${String(unpackingLimits.memoryMiB)} MiB of memory.`,
    'Leave out what visitors do not need: fewer files, smaller ones.',
  ],
  archive_without_index: [
    'There is no `index.html` at its top.',
    'Add one, or pack what is inside the folder.',
  ],
  storage_full: [
    'There is no room left on the server.',
    'Deploy again later; the operator has to make room.',
  ],
  storage_quota_reached: [
    'The deploys of the account would keep more than its plan allows.',
    'Delete deploys that you no longer need, or change the plan.',
  ],
  upload_interrupted: [
    'The upload was cut off, or something failed on our side.',
    'Deploy again. There is no need to wait for the old one.',
  ],
};

const others: readonly (readonly string[])[] = [
  ['308', 'plain HTTP: the same address with `https`; and a folder without its slash'],
  ['400', 'no host, two of them, or a path that cannot be one'],
  ['404', 'nothing is there; over plain HTTP also: the host is not served'],
  ['405', 'the verb is not `GET` or `HEAD`'],
  ['408', 'the request did not arrive in time'],
  ['421', 'the connection was made for another host, or the host is not served any more'],
  ['431', 'the request has too many headers, or too long ones'],
  ['500', 'something failed on our side'],
  [
    '503',
    'the files cannot be read for the moment, or your network has too many requests open; see `Retry-After`',
  ],
];
