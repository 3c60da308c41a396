/** `full`: a commit survives power loss. `normal`: a commit survives only a process crash. */
export type Synchronous = 'full' | 'normal'
