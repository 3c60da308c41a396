/** What a commit survives: a loss of power, or a crash of the process only. */
export type Synchronous = 'full' | 'normal'
