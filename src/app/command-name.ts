/** The command that the reader types to run this program again; `npx` is detected by the variable that it sets. */
export const commandName = (): string => {
  if (import.meta.url.endsWith('.ts')) return './animal-store';
  return process.env['npm_command'] === 'exec' ? 'npx animal-store' : 'animal-store';
};
