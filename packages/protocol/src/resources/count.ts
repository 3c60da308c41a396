import * as v from 'valibot'

/** A whole number from 0. */
export const Count = v.pipe(v.number(), v.integer(), v.minValue(0))
