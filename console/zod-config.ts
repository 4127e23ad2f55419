/**
 * Zod tries whether it may compile code, which the page's policy refuses and reports, unless it finds this. Set without
 * zod, which the first page does not load.
 */
Object.assign(globalThis, { __zod_globalConfig: { jitless: true } });
