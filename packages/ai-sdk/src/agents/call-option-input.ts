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
    if (checked.issues !== undefined) return checked
    const settings = settingsOf(value)
    const { issues } = settings === undefined ? await withoutSettings(schema) : await validated(schema, settings)
    return issues === undefined ? checked : { issues }
  }
  return { '~standard': { version: 1, vendor: 'perdure', validate } }
}

/** The call options of an agent with a schema for them: the SDK parses options only if they are passed. */
export async function callOptionsOf(schema: unknown, input: unknown): Promise<{ readonly options?: unknown }> {
  const settings = settingsOf(input)
  if (settings !== undefined) return { options: settings }
  const { options } = await withoutSettings(schema)
  return options === undefined ? {} : { options }
}

const settingsOf = (input: unknown): unknown => (isObject(input) ? input.settings : undefined)

interface Validated {
  readonly options?: unknown
  readonly issues?: Issues
}

/** A chat without settings has options without members, unless the schema expects none at all. */
async function withoutSettings(schema: unknown): Promise<Validated> {
  const empty = await validated(schema, {})
  if (empty.issues === undefined) return { options: {} }
  // A validator of an application may read members without checking that there are any.
  const none = await validated(schema, undefined).catch(() => empty)
  return none.issues === undefined ? none : empty
}

/**
 * The value as the schema parses it, or why the schema refuses it.
 *
 * @param schema of the SDK: a standard schema, or one with `validate`, or a function that returns one of them
 */
async function validated(schema: unknown, value: unknown): Promise<Validated> {
  const standard = standardOf(schema)
  if (standard !== undefined) {
    const result = await standard.validate(value)
    if (result.issues === undefined) return { options: result.value }
    return { issues: result.issues.map(({ message, path = [] }) => ({ message, path: ['settings', ...path] })) }
  }
  if (isFunction(schema)) return validated(schema(), value)
  if (!isObject(schema) || !isFunction(schema.validate)) return { options: value }
  const result: unknown = await schema.validate(value)
  if (!isObject(result) || result.success !== false) return { options: isObject(result) ? result.value : value }
  const { error } = result
  return {
    issues: [{ message: error instanceof Error ? error.message : 'the options are invalid', path: ['settings'] }],
  }
}

/** The schemas of some libraries are functions. */
function standardOf(schema: unknown): { readonly validate: Validate } | undefined {
  if (!isObject(schema) && !isFunction(schema)) return undefined
  const standard = (schema as { readonly '~standard'?: unknown })['~standard']
  return isObject(standard) && isFunction(standard.validate) ? (standard as never) : undefined
}
