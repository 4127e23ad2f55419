/** The service speaks of its operations by their paths; who is at the command line has commands. */

/** Of the paths that errors point to. */
const COMMANDS: Readonly<Record<string, string>> = {
  '/config/setSslInfo': 'causeway domain ssl',
  '/config/addCertificate': 'causeway certificate add',
};

export function inCommands(message: string): string {
  return message.replace(/\/[a-z]+\/[A-Za-z]+/g, (path) =>
    Object.hasOwn(COMMANDS, path) ? `"${COMMANDS[path]}"` : path,
  );
}
