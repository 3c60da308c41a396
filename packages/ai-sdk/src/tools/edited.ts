import type { RunContext } from '@perdure/core'
import type { FindRun } from '../run.ts'
import { isObject, type Sdk } from '../sdk.ts'
import type { ToolLike } from './tool.ts'

/** The arguments that people have changed, by the id that the model gave the call. */
const edits = new WeakMap<RunContext, Map<string, unknown>>()

/** Notes whether the call was executed with other arguments than the model has asked for. */
export function noteEdit(ctx: RunContext, toolCallId: string, editedArgs: unknown): void {
  const ofRun = edits.get(ctx) ?? new Map<string, unknown>()
  if (editedArgs === undefined) ofRun.delete(toolCallId)
  else edits.set(ctx, ofRun.set(toolCallId, editedArgs))
}

export const editNote = (editedArgs: unknown): string =>
  `The person who approved this call changed its arguments. It was executed with ${JSON.stringify(editedArgs)}.`

type ToModelOutput = NonNullable<ToolLike['toModelOutput']>

/** Tells the model about changed arguments, in front of the output of the call. */
export const withEdits =
  (find: FindRun, own: ToModelOutput): ToModelOutput =>
  async (result) => {
    const edited = edits.get(find().ctx)?.get(result.toolCallId)
    const output = await own(result)
    return edited === undefined ? output : withEdit(output, edited)
  }

/** The output for the model, with a note about the arguments in front of it. */
export function withEdit(output: unknown, editedArgs: unknown): unknown {
  const { type, value } = isObject(output) ? output : {}
  const note = editNote(editedArgs)
  if (type === 'content' && Array.isArray(value)) return { type, value: [{ type: 'text', text: note }, ...value] }
  if (type === 'text' || type === 'error-text') return { type, value: `${note}\n${value}` }
  if (type === 'json') return { type: 'text', value: `${note}\n${JSON.stringify(value)}` }
  return output
}

/** The JSON Schema of the input of a tool, which the server checks changed arguments against. */
export function inputSchemaOf(sdk: Sdk, { inputSchema }: ToolLike): SchemaDocument | PromiseLike<SchemaDocument> {
  return sdk.asSchema(inputSchema as never).jsonSchema as SchemaDocument
}

type SchemaDocument = Readonly<Record<string, unknown>>

/**
 * The input that the tool makes of changed arguments. Its schema can demand more than its JSON Schema says.
 *
 * @throws Error with the kind `invalid_input`
 */
export async function parsedEdit(sdk: Sdk, { inputSchema }: ToolLike, args: unknown): Promise<unknown> {
  const result = await sdk.asSchema(inputSchema as never).validate?.(args)
  if (result === undefined) return args
  if (result.success) return result.value
  throw Object.assign(new Error(`the changed arguments do not match the tool: ${result.error.message}`), {
    kind: 'invalid_input',
  })
}
