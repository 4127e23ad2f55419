/** An edge's feed client as a process of its own, to be killed: `edge-process.ts <folder> <socket>`. */
import { startTestEdge } from './feed.ts';

const [, , folder = '', socketPath = ''] = process.argv;
startTestEdge(folder, socketPath);
