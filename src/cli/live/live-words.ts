/** How streams are named in `causeway live`. */
import { CliError } from '../command/context.ts';

export function splitStream(text: string) {
  const [app_name = '', stream_name = '', ...rest] = text.split('/');
  if (app_name === '' || stream_name === '' || rest.length > 0)
    throw new CliError(`<stream>: expected app/name such as live/news, not ${text}`);
  return { app_name, stream_name };
}
