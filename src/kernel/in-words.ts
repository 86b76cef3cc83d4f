/** A wait for people, rounded up: "7 seconds", "12 minutes", "3 hours". */
export const inWords = (milliseconds: number): string => {
  const seconds = Math.max(1, Math.ceil(milliseconds / 1000));
  if (seconds < 120) return counted(seconds, 'second');
  const minutes = Math.ceil(seconds / 60);
  return minutes < 120 ? counted(minutes, 'minute') : counted(Math.ceil(minutes / 60), 'hour');
};

const counted = (count: number, unit: string): string =>
  `${count} ${unit}${count === 1 ? '' : 's'}`;

/** A size for people: "980 B", "43.8 MiB", "10 GiB". */
export const bytesInWords = (bytes: number): string => {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const step = bytes < 1 ? 0 : Math.min(4, Math.floor(Math.log2(bytes) / 10));
  const size = bytes / 1024 ** step;
  return `${Number.isInteger(size) ? String(size) : size.toFixed(1)} ${String(units[step])}`;
};
