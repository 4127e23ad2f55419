/** Texts of the way back from an identity provider, which the page needs before anything else is loaded. */
const en = {
  stray: 'This sign-in was not begun in this tab. Begin it again here.',
  linked: 'The identity provider is linked',
};

const zh: typeof en = {
  stray: '此登录不是在当前标签页中开始的，请在此重新开始。',
  linked: '已关联身份提供方',
};

export const providerText = { en, 'zh-CN': zh };
