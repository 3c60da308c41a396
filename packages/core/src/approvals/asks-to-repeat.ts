import type { StepRecord } from '@perdure/ports'

/** Whether a call that waits for an approval asks to run again after a crash. Any other call gets the decision as its result. */
export const asksToRepeat = ({ kind }: Pick<StepRecord, 'kind'>): boolean => kind === 'step'
