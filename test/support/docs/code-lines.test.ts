import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countCodeLines } from './code-lines.ts';

test('lines of code are the lines with more than comments', () => {
  const rows: readonly [text: string, lines: number][] = [
    ['', 0],
    ['\n  \n', 0],
    ['// a\n/* b\nc */\nlet d; // e\n', 1],
    ['/** a */ let b;\n', 1],
    ['const url = \'http://a\'; \nconst b = "/*";\nlet c;', 3],
    ["const quote = '\\'//';\nlet c;", 2],
    ['const a = /[/*]\\/\\//g;\nlet b;', 2],
    ["if (/'/.test(a)) b();\n// c\nreturn /`/;", 2],
    ['const half = a / 2; // b\nconst c = (a + b) / 2 / d;\n// e', 2],
    ['const a = `// $'.concat('{b /* c */ + `/* $', '{d}`} \n// e`;\n// f'), 2],
    ['const a = `$'.concat('{{ b: 1 }.b}`;\n/* c */'), 1],
  ];
  for (const [text, lines] of rows) assert.equal(countCodeLines(text), lines, text);
});
