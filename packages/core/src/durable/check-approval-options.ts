import { type JsonText, toJsonText } from '@perdure/ports'
import { isLongerThan } from '../json/json-members.ts'
import type { ApprovalOptions } from './approval-options.ts'
import { checkMembers, durationProblem, type Problem, refuseProblems } from './check-options.ts'

const MAX_TITLE_LENGTH = 512
/**
 * Maximum size of the JSON, in bytes. A request for approval is also an event of the log, so the size limit of events
 * applies.
 */
const MAX_PAYLOAD_BYTES = 262_144

/**
 * @param more names of members that are allowed in addition to those of an approval
 * @throws PerdureError `validation-failed` for invalid options
 */
export function checkApprovalOptions(options: ApprovalOptions, more: readonly string[] = []): void {
  checkMembers('an approval', options, ['title', 'payload', 'timeout', ...more])
  const { title, payload, timeout } = options
  refuseProblems('an approval', [
    textProblem('title', title, MAX_TITLE_LENGTH),
    durationProblem('timeout', timeout),
    jsonProblem('payload', payload, MAX_PAYLOAD_BYTES),
  ])
}

/** A missing text is valid. */
export const textProblem = (name: string, text: unknown, maxLength: number): Problem =>
  text === undefined || (typeof text === 'string' && text.length <= maxLength && text.isWellFormed())
    ? undefined
    : `${name} must be a string of at most ${maxLength} characters`

/** A missing value is valid. */
export function jsonProblem(name: string, value: unknown, maxBytes: number): Problem {
  let text: JsonText
  try {
    text = toJsonText(value)
  } catch {
    return `${name} must be JSON, without BigInt or circular references`
  }
  return isLongerThan(text, maxBytes) ? `${name} is longer than ${maxBytes} bytes` : undefined
}
