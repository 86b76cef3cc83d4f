/** The first match wins: most browsers also name other browsers. */
const browsers = [
  [/\bEdgA?\//, 'Edge'],
  [/\b(OPR|Opera)\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/\b(HeadlessChrome|Chrome|CriOS|Chromium)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
  [/\bcurl\//, 'curl'],
] as const;

const systems = [
  [/\b(iPhone|iPad|iPod)\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b|\bMacintosh\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
] as const;

/** Characters; names stand near the beginning. */
const longestRead = 512;

/** `Firefox on Linux`: enough to recognise one's own. @param header User-Agent, RFC 9110, section 10.1.5 */
export const browserName = (header: string): string => {
  const userAgent = header.slice(0, longestRead);
  const [, browser = 'Unknown browser'] = browsers.find(([shape]) => shape.test(userAgent)) ?? [];
  const [, system] = systems.find(([shape]) => shape.test(userAgent)) ?? [];
  return system === undefined ? browser : `${browser} on ${system}`;
};
