import { html, type Html } from '../../src/adapters/dashboard/frame/html.ts';

/** A page of the lab. */
export const labFrame = (title: string, content: Html): Html => html`<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width">
  <title>${title}</title>
  <style>
    :root { color-scheme: light dark; font-family: system-ui, sans-serif; line-height: 1.5; }
    body { max-width: 60rem; margin: 1.5rem auto; padding: 0 1rem; overflow-wrap: anywhere; }
    li { margin-bottom: 0.5rem; }
    nav a { margin-right: 0.75rem; }
    nav a[aria-current] { color: inherit; font-weight: 600; text-decoration: none; }
    iframe { display: block; width: 100%; height: 75vh; margin-top: 1rem; border: 1px solid; }
    iframe.phone { width: 360px; max-width: 100%; }
    pre { white-space: pre-wrap; }
    textarea { width: 100%; box-sizing: border-box; }
    button[aria-pressed="true"] { font-weight: 600; border-style: inset; }
  </style>
</head>
<body>${content}</body>
</html>`;
