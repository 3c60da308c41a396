import type { RunContext, ToolCall } from '@perdure/core'
import { isFunction, isObject } from '../sdk.ts'
import type { ExecuteOptions, ToolLike, Tools } from './tool.ts'
import { toolOptionsOf } from './tool-options.ts'

const TOOL_APPROVAL_TYPES = ['not-applicable', 'approved', 'denied', 'user-approval'] as const
export type ToolApprovalType = (typeof TOOL_APPROVAL_TYPES)[number]

/** The decision about a call before it is executed. */
export interface ToolApprovalStatus {
  readonly type: ToolApprovalType
  readonly reason?: string | undefined
}

/** `toolApproval` of version 7: one function for all tools, or a status or function for each. */
export type ApprovalPolicy = ((call: object) => unknown) | Readonly<Record<string, unknown>>

/** What the step of the model knows and a tool does not. */
export interface StepState {
  runtimeContext?: unknown
  toolsContext?: unknown
}

export interface PolicyCall {
  readonly name: string
  readonly input: unknown
  readonly sdk: ExecuteOptions
}

export interface Policies {
  readonly tools: Tools
  readonly toolApproval: ApprovalPolicy | undefined
  readonly state: StepState
}

/** Whether a call of this tool may need an approval. */
export const mayNeedApproval = ({ tools, toolApproval }: Policies, name: string): boolean =>
  isFunction(toolApproval) || own(toolApproval, name) !== undefined || isNeeded(tools[name]?.needsApproval)

const isNeeded = (needsApproval: unknown) =>
  needsApproval !== undefined && needsApproval !== null && needsApproval !== false

/**
 * Decides as the SDK does: `toolApproval` takes precedence over `needsApproval` of the tool. What a function decides is a
 * recorded call, because it may read something that changes.
 */
export async function approvalStatus(
  ctx: RunContext,
  policies: Policies,
  call: PolicyCall,
): Promise<ToolApprovalStatus> {
  const decide = deciderOf(policies, call)
  if (decide === undefined) return { type: 'not-applicable' }
  if (!isFunction(decide)) return statusOf(decide)
  return statusOf(await ctx.step(`approval policy of ${call.name}`, async () => (await decide()) ?? null))
}

/** The status of this call, or a function that determines it. */
function deciderOf({ tools, toolApproval, state }: Policies, { name, input, sdk }: PolicyCall): unknown {
  const { toolCallId, messages = [], context, experimental_context } = sdk
  const { runtimeContext, toolsContext = {} } = state
  if (isFunction(toolApproval)) {
    const isDynamic = tools[name]?.type === 'dynamic'
    const toolCall = { type: 'tool-call', toolCallId, toolName: name, input, ...(isDynamic ? { dynamic: true } : {}) }
    return () => toolApproval({ toolCall, tools, toolsContext, messages, runtimeContext })
  }
  const configured = own(toolApproval, name)
  if (isFunction(configured)) {
    return () => configured(input, { toolCallId, messages, toolContext: context, runtimeContext })
  }
  if (configured !== undefined) return configured
  const needed = tools[name]?.needsApproval
  if (!isFunction(needed)) return needed
  return () => needed(input, { toolCallId, messages, context, experimental_context })
}

/** Names of tools come from a model, so inherited members do not count. */
function own(policy: ApprovalPolicy | undefined, name: string): unknown {
  if (policy === undefined || isFunction(policy) || !Object.hasOwn(policy, name)) return undefined
  return (policy as Readonly<Record<string, unknown>>)[name] ?? undefined
}

const TYPES: ReadonlySet<unknown> = new Set(TOOL_APPROVAL_TYPES)

/** @throws TypeError for anything that is not a status */
function statusOf(value: unknown): ToolApprovalStatus {
  if (value === undefined || value === null || value === false) return { type: 'not-applicable' }
  if (value === true) return { type: 'user-approval' }
  const { type, reason } = isObject(value) ? value : { type: value, reason: undefined }
  if (!TYPES.has(type)) throw new TypeError(`${JSON.stringify(value)} is not a status of a tool approval`)
  return { type: type as ToolApprovalStatus['type'], ...(typeof reason === 'string' ? { reason } : {}) }
}

const MAX_TITLE = 512

/** How a person is asked. */
export function approvalOf(name: string, tool: ToolLike, input: unknown, reason: string | undefined): Ask {
  const { title: given, ...options } = toolOptionsOf(tool).approval ?? {}
  const described = typeof tool.description === 'string' ? tool.description : name
  const own = isFunction(given) ? String(given(input)) : String(given ?? tool.title ?? described)
  const title = reason === undefined ? own : `${own} (${reason})`
  return {
    title: title.length > MAX_TITLE ? `${title.slice(0, MAX_TITLE - 1)}…`.toWellFormed() : title,
    payload: input,
    ...options,
  }
}

export type Ask = Exclude<NonNullable<ToolCall['approval']>, boolean>
