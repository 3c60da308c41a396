import * as v from 'valibot'
import { ERRORS, type ErrorCode } from '../errors.ts'

export const ErrorName = v.picklist(Object.keys(ERRORS) as ErrorCode[])

/** The body of every error response. */
export const ErrorBody = v.object({
  error: ErrorName,
  message: v.string(),
  hint: v.optional(v.string()),
  requestId: v.string(),
})
