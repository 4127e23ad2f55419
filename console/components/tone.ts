/** How well something is, as colors and words of the console tell it. */
export type Tone = 'ok' | 'idle' | 'busy' | 'warn' | 'bad';
