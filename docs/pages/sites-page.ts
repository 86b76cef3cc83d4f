import { keptDeploys } from '../../src/sites/domain/site.ts';
import { unpackingLimits } from '../../src/adapters/threads/threaded-unpacking.ts';
import { siteLimits, unwantedNames } from '../../src/sites/domain/site-contents.ts';
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
    'How to publish a site, and how it is served. ' +
      'Step by step: [the tour](tour.md#publish-a-site). ' +
      'For operators: [the edge](edge.md#edge).',
    'A site is a project of static files; nothing runs on the server. Its address is ' +
      '`https://<slug>.<platform host>/`, where the slug comes from the project name. Every deploy ' +
      'is a complete new version and replaces the one before at once. ' +
      `The last ${String(keptDeploys)} deploys and the served one are kept, and you can serve ` +
      'any successful one again: `./animal-store project roll-back`. The next deploy is served as usual.',
    '## What a deploy may hold',
    'A folder, or an archive: `.zip`, `.tar.gz` or `.tgz`. The archive type is detected from its content, not its name.',
    table(['What', 'Limit'], limits()),
    'We count while unpacking, whatever the archive declares. An entry is a file or a folder, ' +
      'including skipped ones.',
    table(['Entry', 'Published as'], entries()),
    'An `index.html` is required at the top. Where everything lies in one folder with an `index.html`, the contents of that folder are published. ' +
      'Names that begin with a dot are skipped, except `.well-known`, and so is `__MACOSX`, which macOS adds to ' +
      'archives. Empty folders are ignored. Names are case-sensitive; accents are normalised ' +
      '(Unicode NFC).',
    'The unpacked size of all stored deploys of an account counts; compressed copies do not. An account ' +
      'never stores more than its plan allows, however many uploads run at once; see [limits](limits.md#projects-and-files). ' +
      'To free space, delete deploys on the project page or with `./animal-store project delete-deploy`. You cannot delete the ' +
      'served deploy.',
    '## Names that are reserved',
    'A project whose name would give it an address such as `www`, `app`, `api`, `admin`, `mail`, `static` or `dashboard` gets a number ' +
      '(`app-2`), because visitors could mistake it for a part of this service.',
    '## Why a deploy is refused',
    'A refused deploy publishes nothing; the site stays as it is. `project deploys` lists the refused deploy with its ' +
      'code (`problem`) and a sentence that names the file, if there is one (`explanation`). We report the first fault found.',
    table(
      ['Code', 'Meaning', 'What to do'],
      uploadProblems.map((problem) => [code(problem), ...told[problem]]),
    ),
    '## How files are found',
    `Say that a site has ${list(siteFiles)}:`,
    table(['Path', 'Answer'], places()),
    'We serve the first that exists: the file itself, the file with `.html` added, the `index.html` of the folder. ' +
      'The query is ignored. Folders are never listed, and there are no rewrites. A missing page gets status 404 ' +
      'and the `404.html` at the top of the site, if there is one.',
    'The content type comes from the file extension; unknown ones are `application/octet-stream`. Text is ' +
      'sent as UTF-8, so save it as UTF-8.',
    '## Caching',
    'Every version of a file has its own `ETag`, made from its content. A client that sends it in ' +
      '`If-None-Match` gets 304 without a body while the file is unchanged. How long clients may cache without asking:',
    table(['File', '`Cache-Control`'], cacheControls()),
    'So a new deploy is visible at the next visit. Scripts, styles and fonts are cached for a year if a bundler put a ' +
      'hash of their content into the name, after a dot or a dash: at least 8 hex digits, or 8 capitals and ' +
      'digits with at least one of each.',
    '## Compression',
    'Text files are compressed once, at deploy time, with brotli and gzip. ' +
      '`Accept-Encoding` selects the encoding. Tiny files, and files that hardly shrink, are not compressed.',
    table(
      ['Compressed', 'Not compressed'],
      [[list(endings.filter(isSmaller)), list(endings.filter((ending) => !isSmaller(ending)))]],
    ),
    'Each encoding has its own `ETag`. The complete headers for a stylesheet in brotli:',
    ['```', 'HTTP/2 200', ...exampleHeaders(), '```'].join('\n'),
    '## Ranges',
    '`Range: bytes=…` gets 206 and that part of the uncompressed file. An outdated `ETag` in `If-Range` gets the whole file, ' +
      'and so do several ranges at once. A range beyond the end gets 416.',
    '## Other answers',
    table(['Status', 'When'], others),
    'Their body is the status in words, with no data of any site.',
  );

const mib = (bytes: number) => `${String(bytes / 1024 / 1024)} MiB`;

export const limits = (): readonly (readonly string[])[] => [
  ['files and folders, including folders that only appear in paths', String(siteLimits.entries)],
  ['all published files, unpacked', mib(siteLimits.bytes)],
  ['a path, in UTF-8', `${String(siteLimits.pathBytes)} bytes`],
  ['a name in it', `${String(siteLimits.nameBytes)} bytes`],
  ['nesting of folders', String(siteLimits.folders)],
];

/** What its owner does about each refusal. A new one does not compile until it is told. */
const told: Readonly<Record<UploadProblem, readonly [meaning: string, advice: string]>> = {
  archive_unreadable: [
    'The archive is damaged or incomplete, or a file or folder cannot be read.',
    'Pack it again and upload it completely; make sure that you can read every file.',
  ],
  archive_unsupported: [
    'The archive has another format, is encrypted, split, or uses an unusual compression.',
    'Pack it as `.zip`, `.tar.gz` or `.tgz`, without a password.',
  ],
  archive_unsafe_path: [
    'A path is absolute, leads outside the site, is too long or too deep, or has invalid characters.',
    'Pack from within the folder of the site, or rename the file that the message names.',
  ],
  archive_link: [
    'It contains a symbolic or hard link, or a device.',
    'Replace it with the file itself.',
  ],
  archive_duplicate_path: [
    'Two entries have the same path, or a path is both a file and a folder.',
    'Keep one of them, or rename it.',
  ],
  archive_too_many_entries: [
    `It has more than ${String(siteLimits.entries)} files and folders.`,
    'Remove the files that visitors do not need.',
  ],
  archive_too_large: [
    `It is larger than ${mib(siteLimits.bytes)} unpacked.`,
    'Remove or shrink the largest files.',
  ],
  archive_too_costly: [
    `Unpacking and compressing it took longer than ${String(unpackingLimits.deadlineMs / 60_000)} minutes, or more than ${String(unpackingLimits.memoryMiB)} MiB of memory.`,
    'Upload fewer and smaller files; remove those that visitors do not need.',
  ],
  archive_unwanted: [
    `At its top is ${list(Object.keys(unwantedNames))}: it is the folder of your source, not the built site.`,
    'Deploy only the folder that your build makes, such as `dist`.',
  ],
  archive_without_index: [
    'There is no `index.html` at its top.',
    'Add one, or pack only the folder that has it.',
  ],
  storage_full: [
    'The server has no disk space left.',
    'Deploy again later; the operator must free disk space.',
  ],
  storage_quota_reached: [
    'The deploys of the account would use more space than its plan allows.',
    'Delete deploys that you no longer need, or ask the operator for a larger plan.',
  ],
  upload_interrupted: [
    'The upload was interrupted, or something failed on our side.',
    'Deploy again. There is no need to wait for the old one.',
  ],
};

const others: readonly (readonly string[])[] = [
  ['308', 'plain HTTP: the same address with `https`; and a folder without its slash'],
  ['400', 'no host, two hosts, or an invalid path'],
  ['404', 'not found; over plain HTTP also: the host is not served'],
  ['405', 'the verb is not `GET` or `HEAD`'],
  ['408', 'the request did not arrive in time'],
  ['421', 'the connection was made for another host, or the host is no longer served'],
  ['431', 'the request has too many headers, or too long ones'],
  ['500', 'something failed on our side'],
  [
    '503',
    'the files cannot be read at the moment, or your network has too many requests open; see `Retry-After`',
  ],
];
