import { isFields } from '@perdure/core'
import { createPauses, perdureError, type YieldTurn } from '@perdure/ports'
import { nearest } from '@perdure/protocol'
import { type BaseIssue, type GenericSchema, getDotPath, safeParse, strictObject } from 'valibot'

const NOTHING = strictObject({})
const MAX_ISSUES = 5
const MAX_LENGTH = 200
const OBJECT_TYPES = ['strict_object', 'loose_object', 'object']

/**
 * Validates a value and returns the schema's output. Without a schema, the value must be an empty object.
 *
 * @param root name of the value in messages: `body` or `query`
 * @throws PerdureError `validation-failed` with the path of each invalid member
 */
export function validate(schema: GenericSchema = NOTHING, value: unknown, root: string): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw perdureError('validation-failed', { message: `${root}: must be an object` })
  }
  const result = safeParse(schema, value)
  if (result.success) return result.output
  const issues = result.issues.slice(0, MAX_ISSUES).map((issue) => describe(issue, root) + adviceFor(issue, schema))
  throw perdureError('validation-failed', { message: issues.join('; ') })
}

/**
 * Validates like `validate`, but the elements of the lists in the body in turns: these must not depend on one another.
 *
 * @throws PerdureError `validation-failed`
 */
export async function validateInTurns(
  schema: GenericSchema = NOTHING,
  value: unknown,
  { root, yieldTurn }: { readonly root: string; readonly yieldTurn: YieldTurn },
): Promise<unknown> {
  const lists = Object.entries(entriesOf(schema)).flatMap(([name, entry]) => {
    const list = isFields(value) ? value[name] : undefined
    const item = itemOf(entry)
    return item !== undefined && Array.isArray(list) && list.length > 0 ? [{ name, item, list: list as unknown[] }] : []
  })
  const outputs: Record<string, unknown> = {}
  for (const { name, item, list } of lists) outputs[name] = await validateList(item, list, `${root}.${name}`, yieldTurn)
  const rest = isFields(value) ? { ...value } : value
  // One element stands for the others, which have passed.
  for (const { name, list } of lists) (rest as Record<string, unknown>)[name] = list.slice(0, 1)
  return { ...(validate(schema, rest, root) as object), ...outputs }
}

async function validateList(item: GenericSchema, list: unknown[], root: string, yieldTurn: YieldTurn) {
  const outputs: unknown[] = []
  const pause = createPauses(yieldTurn)
  for (const [index, element] of list.entries()) {
    outputs.push(validate(item, element, `${root}.${index}`))
    await pause()
  }
  return outputs
}

const entriesOf = (schema: GenericSchema): Readonly<Record<string, GenericSchema>> =>
  'entries' in schema ? (schema.entries as Record<string, GenericSchema>) : {}

/** The schema of the elements of an optional, piped or plain list of objects. */
function itemOf(schema: GenericSchema): GenericSchema | undefined {
  if ('wrapped' in schema) return itemOf(schema.wrapped as GenericSchema)
  if (schema.type !== 'array' || !('item' in schema)) return undefined
  const item = schema.item as GenericSchema
  return 'entries' in item ? item : undefined
}

/** For an unknown member at the top: the member that was probably meant, or where the input of a run belongs. */
function adviceFor({ type, expected, path }: BaseIssue<unknown>, schema: GenericSchema): string {
  if (type !== 'strict_object' || expected !== 'never' || path?.length !== 1) return ''
  const known = 'entries' in schema ? Object.keys(schema.entries as object) : []
  const near = nearest(String(path[0].key), known)
  if (near !== undefined) return `; did you mean ${near}?`
  return known.includes('input') ? '; data for the code belongs in input' : ''
}

function describe(issue: BaseIssue<unknown>, root: string): string {
  const path = getDotPath(issue)
  return `${path === null ? root : `${root}.${path}`}: ${messageOf(issue)}`.slice(0, MAX_LENGTH)
}

function messageOf({ type, expected, received, message }: BaseIssue<unknown>): string {
  if (!OBJECT_TYPES.includes(type)) return message
  if (expected === 'never') return 'unknown member'
  return received === 'undefined' ? 'is missing' : message
}
