/** Why a run is aborted whose slot a newer run has asked for. */
export const INTERRUPTED = 'interrupted by a newer run'
