/** Hosts below the platform's that visitors or mail programs could take for the platform itself. */
const reserved: ReadonlySet<string> = new Set([
  ...['www', 'web', 'app', 'apps', 'api', 'dashboard', 'console', 'panel', 'platform', 'sites'],
  ...['admin', 'administrator', 'root', 'system', 'internal', 'staff', 'operator', 'edge'],
  ...['account', 'accounts', 'login', 'sign-in', 'signin', 'signup', 'auth', 'oauth', 'sso', 'id'],
  ...['billing', 'payment', 'payments', 'pay', 'checkout', 'security', 'secure', 'abuse', 'legal'],
  ...['status', 'support', 'help', 'docs', 'health', 'healthz', 'readyz', 'metrics', 'localhost'],
  ...['static', 'assets', 'cdn', 'media', 'files', 'uploads', 'images', 'img'],
  ...['mail', 'email', 'webmail', 'smtp', 'imap', 'pop', 'pop3', 'mx', 'ns', 'dns', 'ftp', 'sftp'],
  ...['postmaster', 'hostmaster', 'webmaster', 'noreply', 'autoconfig', 'autodiscover', 'wpad'],
  ...['isatap', 'acme', 'well-known', 'animal-store', 'animalstore'],
]);

/** Like `www2`, `ns1`. */
const numbered = /^(?:www|ns|dns|mx|smtp|imap|cdn|api)\d{1,3}$/;

/** CNAME targets of custom domains. */
const target = /^t-[0-9a-f]{32}$/;

/** Whether a project must not have it, because its host could be mistaken for ours. */
export const isReservedSlug = (slug: string): boolean =>
  reserved.has(slug) || numbered.test(slug) || target.test(slug);
