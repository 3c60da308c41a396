import type { ApprovalOptions, ToolCall } from '@perdure/core'
import type { Tool } from 'ai'

/** Options of a tool that the AI SDK does not have. */
export interface ToolOptions<Input = unknown> extends Pick<ToolCall, 'timeout' | 'retries' | 'recoveries' | 'onCrash'> {
  /** How a person is asked, if the tool needs approval. */
  readonly approval?: Pick<ApprovalOptions, 'assignee' | 'remindAfter' | 'escalateTo'> & {
    /** What the person decides. Default: the title of the tool or, without one, its description. */
    readonly title?: string | ((input: Input) => string)
    /** Lets the decider change the input of the tool before it approves; checked against the `inputSchema`. */
    readonly editable?: boolean
    /** Time until the request expires; by default it never expires. */
    readonly timeout?: NonNullable<ApprovalOptions['timeout']>
  }
}

/** The type of the input of a tool. */
// biome-ignore lint/suspicious/noExplicitAny: as in the SDK, whose own helper does not take every tool under strict options
export type ToolInputOf<T> = T extends Tool<infer Input, any> ? Input : unknown

const OPTIONS: unique symbol = Symbol.for('perdure.tool-options') as never

/** Adds options to a tool of the AI SDK. Outside of Perdure, the tool is used without them. */
export function toolOptions<T extends object>(tool: T, options: ToolOptions<ToolInputOf<T>>): T {
  const known = Object.keys(options).find((name) => !NAMES.has(name))
  if (known !== undefined) throw new TypeError(`toolOptions: there is no option ${JSON.stringify(known)}`)
  return { ...tool, [OPTIONS]: options }
}

const NAMES: ReadonlySet<string> = new Set(['timeout', 'retries', 'recoveries', 'onCrash', 'approval'])

export const toolOptionsOf = (tool: object): ToolOptions<never> =>
  (tool as { readonly [OPTIONS]?: ToolOptions<never> })[OPTIONS] ?? {}
