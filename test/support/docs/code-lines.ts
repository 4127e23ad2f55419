/** Counts lines of code: neither blank nor comments alone. */

/** Returns the number of lines with something other than white space and comments. TypeScript without JSX. */
export function countCodeLines(text: string): number {
  return withoutComments(text)
    .split('\n')
    .filter((line) => line.trim() !== '').length;
}

/** Characters behind which a slash begins a regular expression, and words that do not end a value. */
const BEFORE_PATTERN =
  /(?:^|[([{,;=:!&|?+\-*%<>~^}]|\b(?:return|typeof|case|in|of|do|else|void|yield|await|throw|new))\s*$/;

const PLAIN = /[^/'"`{}]+/y;
const STRING = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/sy;
const COMMENT = /\/\/[^\n]*|\/\*.*?\*\//sy;
const PATTERN = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y;
const TEMPLATE = /(?:[^`\\$]|\\.|\$(?!\{))*(?:`|\$\{)/sy;

/** Line breaks of comments stay. */
function withoutComments(text: string): string {
  let at = 0;
  let code = '';
  /** Open braces, outermost first; true for one of a template. */
  const braces: boolean[] = [];
  const take = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0] ?? '';
    at += found.length;
    return found;
  };
  const takeTemplate = (): string => {
    const part = take(TEMPLATE);
    if (part.endsWith('${')) braces.push(true);
    return part;
  };
  while (at < text.length) {
    code += take(PLAIN);
    const comment = take(COMMENT);
    code += comment.replace(/[^\n]/g, '') || take(STRING);
    if (comment !== '' || at >= text.length) continue;
    const mark = text[at] ?? '';
    if (mark === '/' && BEFORE_PATTERN.test(code.slice(-80))) code += take(PATTERN) || text[at++];
    else if (mark === '`' || mark === '{' || mark === '}') {
      at++;
      code += mark;
      if (mark === '{') braces.push(false);
      if (mark === '`' || (mark === '}' && braces.pop() === true)) code += takeTemplate();
    } else if (mark === '/') code += text[at++];
  }
  return code;
}
