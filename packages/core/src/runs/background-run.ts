import type { RunRecord } from '@perdure/ports'

/** Whether the run outlives its parent: nobody waits for it, and neither the end of its parent nor a message of the user ends it. */
export const isBackground = ({ flow }: Pick<RunRecord, 'flow'>): boolean => flow?.background !== undefined
