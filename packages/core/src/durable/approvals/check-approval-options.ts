import { type CheckJson, type JsonText, toJsonText } from '@perdure/ports'
import { isGrantable, isPlainObject, toMilliseconds } from '@perdure/protocol'
import { isLongerThan } from '../../json/json-members.ts'
import { toRunError } from '../../runs/run-error.ts'
import { checkMembers, durationProblem, type Problem, refuseProblems } from '../check-options.ts'
import type { ApprovalOptions } from './approval-options.ts'

export const MAX_TITLE_LENGTH = 512
/**
 * Maximum size of the JSON, in bytes. A request for approval is also an event of the log, so the size limit of events
 * applies.
 */
const MAX_PAYLOAD_BYTES = 262_144
const MAX_SCHEMA_BYTES = 65_536

/**
 * @param more names of members that are allowed in addition to those of an approval
 * @throws PerdureError `validation-failed` for invalid options
 */
export function checkApprovalOptions(options: ApprovalOptions, more: readonly string[] = []): void {
  checkMembers('an approval', options, [...MEMBERS, ...more])
  const { title, payload, timeout, assignee, editable, remindAfter, escalateTo } = options
  refuseProblems('an approval', [
    textProblem('title', title, MAX_TITLE_LENGTH),
    durationProblem('timeout', timeout),
    jsonProblem('payload', payload, MAX_PAYLOAD_BYTES),
    assigneeProblem('assignee', assignee),
    editableProblem('editable', editable),
    durationProblem('remindAfter', remindAfter),
    reminderProblem(options),
    assigneeProblem('escalateTo', escalateTo),
  ])
}

const MEMBERS: readonly (keyof ApprovalOptions)[] = [
  ...(['title', 'payload', 'timeout', 'assignee', 'editable', 'remindAfter', 'escalateTo'] as const),
]

function reminderProblem({ remindAfter, escalateTo, timeout }: ApprovalOptions): Problem {
  if (remindAfter === undefined) return escalateTo === undefined ? undefined : 'escalateTo needs remindAfter'
  const isLater = timeout !== undefined && Number(toMilliseconds(remindAfter)) >= Number(toMilliseconds(timeout))
  return isLater ? 'remindAfter must be shorter than timeout' : undefined
}

function editableProblem(name: string, editable: unknown): Problem {
  if (editable === undefined || typeof editable === 'boolean') return undefined
  const schema = isPlainObject(editable) ? editable.schema : undefined
  if (!isPlainObject(schema)) return `${name} must be a boolean or { schema }, a JSON Schema`
  return jsonProblem(`${name}.schema`, schema, MAX_SCHEMA_BYTES)
}

/**
 * Checks the schema of an editable approval as its decision will.
 *
 * @throws PerdureError `validation-failed` if the schema cannot be used, which the decider could not mend
 */
export async function checkEditableSchema(
  { editable, payload }: Pick<ApprovalOptions, 'editable' | 'payload'>,
  checkJson: CheckJson | undefined,
): Promise<void> {
  if (typeof editable !== 'object' || checkJson === undefined) return
  try {
    await checkJson(editable.schema, payload ?? null)
  } catch (error) {
    refuseProblems('an approval', [`editable.schema cannot be used as a JSON Schema: ${toRunError(error).message}`])
  }
}

/** Nobody but an admin could decide an approval that is assigned to a scope that no token can hold. */
const assigneeProblem = (name: string, assignee: unknown): Problem =>
  assignee === undefined || assignee === 'user' || assignee === 'staff' || isHeldScope(assignee)
    ? undefined
    : `${name} must be 'user', 'staff' or a scope that a token can hold`

const isHeldScope = (text: unknown): boolean => typeof text === 'string' && isGrantable(text)

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
