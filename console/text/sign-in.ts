/** Texts of the page where people sign in. */
const en = {
  title: 'Sign in',
  ended: 'Your session has ended. Sign in again to go on where you were.',
  token: 'Access token',
  tokenHelp: 'The first one is in the file that the service named when it started.',
  submit: 'Sign in',
  insecure:
    'Your browser keeps no session over plain HTTP from this address. Open the console over HTTPS, or at localhost.',
};

const zh: typeof en = {
  title: '登录',
  ended: '会话已结束，请重新登录以继续。',
  token: '访问令牌',
  tokenHelp: '首个令牌位于服务启动时所提示的文件中。',
  submit: '登录',
  insecure: '通过此地址的普通 HTTP 访问时，浏览器不会保存会话。请使用 HTTPS，或通过 localhost 打开控制台。',
};

export const signInText = { en, 'zh-CN': zh };
