/** Cuts a line of a batch file into words, as a shell would: quotes, backslashes, comments; nothing is expanded. */

export type SplitLine =
  | { readonly kind: 'words'; readonly words: readonly string[] }
  /** The line ends in a backslash: the next one belongs to it. */
  | { readonly kind: 'continued'; readonly begun: BegunWords }
  | { readonly kind: 'malformed'; readonly problem: string };

/** What a line that is continued has given until now. */
export interface BegunWords {
  readonly words: string[];
  /** The word that goes on in the next line; undefined between words. */
  readonly word: string | undefined;
}

/**
 * Within single quotes everything is literal, within double quotes all but `\"` and `\\`, outside a backslash makes the next
 * character literal. `#` where a word could begin comments out the rest.
 * @param begun what the lines before gave that this one continues; used up
 */
export function splitWords(line: string, begun: BegunWords = { words: [], word: undefined }): SplitLine {
  const { words } = begun;
  let { word } = begun;
  for (let i = 0; i < line.length; i++) {
    const char = line[i] ?? '';
    if (char === ' ' || char === '\t') {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (char === '#' && word === undefined) {
      break;
    } else if (char === '\\') {
      if (i + 1 === line.length) return { kind: 'continued', begun: { words, word } };
      word = (word ?? '') + line[++i];
    } else if (char === "'" || char === '"') {
      const quoted = char === "'" ? singleQuoted(line, i + 1) : doubleQuoted(line, i + 1);
      if (quoted === undefined) return { kind: 'malformed', problem: `the quote ${char} is not closed` };
      word = (word ?? '') + quoted.text;
      i = quoted.end;
    } else {
      word = (word ?? '') + char;
    }
  }
  if (word !== undefined) words.push(word);
  return { kind: 'words', words };
}

interface Quoted {
  readonly text: string;
  /** Where the closing quote stands. */
  readonly end: number;
}

function singleQuoted(line: string, from: number): Quoted | undefined {
  const end = line.indexOf("'", from);
  return end < 0 ? undefined : { text: line.slice(from, end), end };
}

function doubleQuoted(line: string, from: number): Quoted | undefined {
  let text = '';
  for (let i = from; i < line.length; i++) {
    const char = line[i] ?? '';
    const next = line[i + 1];
    if (char === '"') return { text, end: i };
    if (char === '\\' && (next === '"' || next === '\\')) {
      text += next;
      i++;
    } else {
      text += char;
    }
  }
  return undefined;
}
