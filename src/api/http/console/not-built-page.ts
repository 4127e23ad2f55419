/** The page that stands for the console where it is not built, in both languages. */

export const NOT_BUILT_PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<link rel="icon" href="data:,">
<title>Causeway</title>
<body>
<h1>Causeway</h1>
<div lang="zh-CN">
<p>控制台尚未构建。请在程序目录中运行 <code>npm run build</code>，然后重新启动服务。接口和 <code>causeway</code> 命令不受影响。</p>
</div>
<div lang="en">
<p>The console is not built. Run <code>npm run build</code> in the program's folder, then restart the service. The interface and the
<code>causeway</code> command work without it.</p>
</div>
</body>
</html>
`;
