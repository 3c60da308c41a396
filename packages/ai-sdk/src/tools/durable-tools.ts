import { DENIED_WITHOUT_REASON, type RunContext, type ToolOutcome } from '@perdure/core'
import type { FindRun } from '../run.ts'
import { isFunction, type Sdk } from '../sdk.ts'
import { type Ask, approvalOf, approvalStatus, mayNeedApproval, type Policies } from './approval-policy.ts'
import { type Denied, denied, showDenial, toModelOutput } from './denied.ts'
import { editNote, inputSchemaOf, noteEdit, parsedEdit, withEdits } from './edited.ts'
import type { ExecuteOptions, ToolLike, Tools } from './tool.ts'
import { toolOptionsOf } from './tool-options.ts'

export interface ToolSettings extends Omit<Policies, 'tools'> {
  /** Time limit for each execution of a tool, unless its own options set one. */
  readonly timeoutMsOf: (name: string) => number | undefined
  readonly sdk: Sdk
}

/**
 * Tools that run as `ctx.tool`: recorded, counted, and executed only after the approval that the tool or the policy asks
 * for. A tool without `execute` runs as `ctx.clientTool`. The call keeps the id that the model gave it.
 */
export function durableTools(find: FindRun, tools: Tools, settings: ToolSettings): Tools {
  const own = Object.fromEntries(Object.entries(tools).map(([name, tool]) => [name, originals.get(tool) ?? tool]))
  const policies: Policies = { ...settings, tools: own }
  return Object.fromEntries(
    Object.entries(own).map(([name, tool]) => [name, durableTool(find, { name, tool, policies, settings })]),
  )
}

/** The tools from which durable tools were made, so that a policy of a later call still applies to them. */
const originals = new WeakMap<object, ToolLike>()

interface Given {
  readonly name: string
  readonly tool: ToolLike
  readonly policies: Policies
  readonly settings: ToolSettings
}

function durableTool(find: FindRun, given: Given): ToolLike {
  const { name, tool, policies } = given
  if (isLeftToProvider(tool)) return tool
  const { needsApproval: _, ...rest } = tool
  const durable: ToolLike = {
    ...rest,
    ...(mayNeedApproval(policies, name) ? { toModelOutput: withEdits(find, toModelOutput(tool)) } : {}),
    execute: (input, sdk) => execute(find, given, { input, sdk }),
  }
  originals.set(durable, tool)
  return durable
}

/** A tool that its provider executes. */
const isLeftToProvider = ({ type, execute, isProviderExecuted }: ToolLike): boolean =>
  type === 'provider' && !isFunction(execute) && isProviderExecuted !== false

interface SdkCall {
  readonly input: unknown
  readonly sdk: ExecuteOptions
}

async function execute(find: FindRun, given: Given, { input, sdk }: SdkCall): Promise<unknown> {
  const { name, tool, policies } = given
  const { ctx, isInsideCall } = find()
  if (isInsideCall) return executePlain(given, { input, sdk })
  const toolCallId = takeId(ctx, sdk.toolCallId)
  const status = await approvalStatus(ctx, policies, { name, input, sdk })
  if (status.type === 'denied') return deny(ctx, toolCallId, status.reason)
  const ask = status.type === 'user-approval' ? await askOf(given, input, status.reason) : undefined
  const call: DurableCall = { ctx, input, sdk, toolCallId, ask }
  return isFunction(tool.execute) ? onServer(given, call) : onClient(given, call)
}

/** A decision without a person. */
function deny(ctx: RunContext, toolCallId: string | undefined, reason: string | undefined): Denied {
  if (toolCallId !== undefined) showDenial(ctx, toolCallId, reason)
  return denied(reason)
}

interface DurableCall extends SdkCall {
  readonly ctx: RunContext
  readonly toolCallId: string | undefined
  /** How a person is asked; `undefined` if nobody is. */
  readonly ask: Ask | undefined
}

async function askOf({ name, tool, settings }: Given, input: unknown, reason: string | undefined): Promise<Ask> {
  const { editable, ...ask } = approvalOf(name, tool, input, reason)
  return editable === true ? { ...ask, editable: { schema: await inputSchemaOf(settings.sdk, tool) } } : ask
}

async function onServer({ name, tool, settings }: Given, call: DurableCall): Promise<unknown> {
  const { ctx, input, sdk, toolCallId, ask } = call
  const { approval: _, timeout = settings.timeoutMsOf(name), ...repeat } = toolOptionsOf(tool)
  const outcome = await ctx.tool<unknown, unknown>({
    ...{ name, args: input, ...repeat },
    ...(timeout === undefined ? {} : { timeout }),
    ...(toolCallId === undefined ? {} : { toolCallId }),
    ...(ask === undefined ? {} : { approval: ask }),
    execute: async (args, { signal, idempotencyKey, approval }) => {
      const given = approval?.edited === true ? await parsedEdit(settings.sdk, tool, args) : args
      const options = { ...sdk, abortSignal: signal, idempotencyKey, ...(approval === undefined ? {} : { approval }) }
      return settle(ctx, tool.execute?.(given, options), toolCallId)
    },
  })
  noteEdit(ctx, sdk.toolCallId, outcome.editedArgs)
  return resultOf(outcome)
}

async function onClient({ name, tool }: Given, call: DurableCall): Promise<unknown> {
  const { ctx, sdk, toolCallId, ask } = call
  let { input } = call
  if (ask !== undefined) {
    const { approved, reason, args } = await ctx.approval(name, ask)
    if (!approved) return deny(ctx, toolCallId, reason)
    noteEdit(ctx, sdk.toolCallId, args)
    input = args ?? input
  }
  const { timeout } = toolOptionsOf(tool)
  return resultOf(
    await ctx.clientTool({
      ...{ name, args: input },
      ...(toolCallId === undefined ? {} : { toolCallId }),
      ...(tool.title === undefined ? {} : { title: tool.title }),
      ...(timeout === undefined ? {} : { timeout }),
    }),
  )
}

/** @throws Error for a tool that failed, so that the model is told its message */
function resultOf(outcome: ToolOutcome<unknown>): unknown {
  if (outcome.ok) return outcome.value
  const { kind, message } = outcome.error
  // The SDK leaves a missing reason out.
  if (kind === 'approval_denied') return denied(message === DENIED_WITHOUT_REASON ? undefined : message)
  const { editedArgs } = outcome
  throw Object.assign(new Error(editedArgs === undefined ? message : `${editNote(editedArgs)} ${message}`), { kind })
}

/** A tool inside a step or another tool. */
function executePlain({ name, tool, policies }: Given, { input, sdk }: SdkCall): unknown {
  const isAsked = mayNeedApproval(policies, name)
  if (isAsked || !isFunction(tool.execute)) {
    const what = isAsked ? 'needs an approval' : 'is executed by the client'
    throw new Error(`the tool ${name} ${what}, which is not possible inside a step or another tool`)
  }
  return tool.execute(input, sdk)
}

/** The last value of a tool that yields preliminary results, each of which is shown. */
async function settle(ctx: RunContext, given: unknown, toolCallId: string | undefined): Promise<unknown> {
  const result = await given
  if (typeof result !== 'object' || result === null || !(Symbol.asyncIterator in result)) return result
  let last: unknown
  for await (const value of result as AsyncIterable<unknown>) {
    last = value
    if (toolCallId !== undefined) void ctx.emit('tool.result', { toolCallId, result: value, preliminary: true })
  }
  return last
}

const TAKEN = new WeakMap<object, Map<string, number>>()
const VISIBLE = /^[\x21-\x7e]{1,120}$/

/** The id of the model's call, with a number if the model has used it before in this execution. */
function takeId(ctx: object, id: string | undefined): string | undefined {
  if (id === undefined || !VISIBLE.test(id)) return undefined
  const taken = TAKEN.get(ctx) ?? new Map<string, number>()
  TAKEN.set(ctx, taken)
  const count = (taken.get(id) ?? 0) + 1
  taken.set(id, count)
  return count === 1 ? id : `${id}.${count}`
}
