/** What is wrong with a field, around the words of the contract. */
const en = {
  missing: (expected: string) => `Required: ${expected}`,
  invalid: (expected: string, found: string) => `Expected ${expected}; found ${found}`,
};

const zh: typeof en = {
  missing: (expected) => `必填：${expected}`,
  invalid: (expected, found) => `应为：${expected}；实际为：${found}`,
};

export const problemsText = { en, 'zh-CN': zh };
