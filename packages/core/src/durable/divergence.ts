import { perdureError, type Refusal } from '@perdure/ports'
import type { Divergence } from '../runs/parked.ts'

/** The error of a run that fails because its code no longer makes the recorded calls. */
export const divergenceError = ({ seq, expected, found }: Divergence): Refusal =>
  perdureError('workflow-divergence', {
    message:
      found === null
        ? `the code ended before the recorded ${expected}`
        : `call ${seq} is the ${found}, but the ${expected} is recorded`,
    hint: 'keep the order of durable calls unchanged while runs of this code are unfinished',
  })
