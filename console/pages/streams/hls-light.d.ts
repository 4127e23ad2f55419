/** The light build of hls.js has the same interface as the whole one, whose types it lacks. */
declare module 'hls.js/light' {
  import Hls from 'hls.js';

  // biome-ignore lint/style/noDefaultExport: the package has one
  export default Hls;
}
