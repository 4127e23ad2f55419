/** Texts of what has failed in the console itself. */
const en = {
  title: 'This page cannot be shown',
  tryAgain: 'Try again',
  notLoaded: 'A part of the console was not loaded',
  notLoadedHelp:
    'Either there is no connection, or the service was updated after you opened the console. Trying again loads the whole page anew.',
  draftsAreLost: 'Settings that you have changed and not applied are lost by that.',
  failed: 'The console has failed here',
  failedHelp: 'That is a fault of the console. Nothing was changed. Please report it with these lines:',
  report: 'Report',
};

const zh: typeof en = {
  title: '页面无法显示',
  tryAgain: '重试',
  notLoaded: '控制台的一部分未能加载',
  notLoadedHelp: '可能是网络中断，也可能是打开控制台后服务已更新。重试会重新加载整个页面。',
  draftsAreLost: '已修改但尚未应用的配置会因此丢失。',
  failed: '控制台出错',
  failedHelp: '这是控制台自身的错误，没有更改任何内容。请附上以下信息反馈：',
  report: '错误信息',
};

export const faultText = { en, 'zh-CN': zh };
