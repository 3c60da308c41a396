import { isFunction, isObject } from '../sdk.ts'
import { chatInput } from './chat-input.ts'

type Validate = (typeof chatInput)['~standard']['validate']
type Checked = Awaited<ReturnType<Validate>>
type Issues = NonNullable<Extract<Checked, { readonly issues: unknown }>['issues']>

/**
 * Accepts what `chatInput` accepts, if its `settings` are call options that the schema of the agent accepts. The SDK parses
 * them again when it calls the agent.
 */
export function chatInputWith(schema: unknown): typeof chatInput {
  const validate: Validate = async (value) => {
    const checked = await chatInput['~standard'].validate(value)
    if (checked.issues !== undefined || !isObject(value) || value.settings === undefined) return checked
    const issues = await issuesOf(schema, value.settings)
    return issues === undefined ? checked : { issues }
  }
  return { '~standard': { version: 1, vendor: 'perdure', validate } }
}

/** A schema of the SDK: a standard schema, or one with `validate`, or a function that returns one of them. */
async function issuesOf(schema: unknown, options: unknown): Promise<Issues | undefined> {
  const standard = standardOf(schema)
  if (standard !== undefined) {
    const { issues } = await standard.validate(options)
    return issues?.map(({ message, path = [] }) => ({ message, path: ['settings', ...path] }))
  }
  if (isFunction(schema)) return issuesOf(schema(), options)
  if (!isObject(schema) || !isFunction(schema.validate)) return undefined
  const result: unknown = await schema.validate(options)
  if (!isObject(result) || result.success !== false) return undefined
  const { error } = result
  return [{ message: error instanceof Error ? error.message : 'the options are invalid', path: ['settings'] }]
}

/** The schemas of some libraries are functions. */
function standardOf(schema: unknown): { readonly validate: Validate } | undefined {
  if (!isObject(schema) && !isFunction(schema)) return undefined
  const standard = (schema as { readonly '~standard'?: unknown })['~standard']
  return isObject(standard) && isFunction(standard.validate) ? (standard as never) : undefined
}
