import { perdureError } from '@perdure/ports'
import { type GenericSchema, getDotPath, safeParse } from 'valibot'

/** @throws PerdureError `validation-failed` that names every invalid member */
export function checkBySchema(schema: GenericSchema, value: unknown): void {
  const { success, issues } = safeParse(schema, value)
  if (success) return
  const message = issues.map((issue) => [getDotPath(issue), issue.message].filter(Boolean).join(': ')).join('; ')
  throw perdureError('validation-failed', { message })
}
