/** The service speaks of its operations by their paths and fields; who is at the command line has commands and options. */

/** Of the paths that errors point to. */
const COMMANDS: Readonly<Record<string, string>> = {
  '/config/setSslInfo': 'causeway domain ssl',
  '/config/addCertificate': 'causeway certificate add',
};

/** Of fields that somebody is told to give, or gave with others, and that are options here. */
const OPTIONS: readonly (readonly [said: string, shown: string])[] = [
  ['field account_id is missing', '--account is missing'],
  ['expected urls, directories or domain_id', 'expected URLs, --directory or --domain'],
  ['domain_id purges the whole domain', '--domain purges the whole domain'],
  ['cannot go together with urls or directories', 'cannot go together with URLs or --directory'],
];

export function inCommands(message: string): string {
  const withCommands = message.replace(/\/[a-z]+\/[A-Za-z]+/g, (path) =>
    Object.hasOwn(COMMANDS, path) ? `"${COMMANDS[path]}"` : path,
  );
  return OPTIONS.reduce((text, [said, shown]) => text.replace(said, shown), withCommands);
}
