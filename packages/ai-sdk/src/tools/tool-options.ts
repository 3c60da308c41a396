import type { ApprovalOptions, ToolCall } from '@perdure/core'

/** Options of a tool that the AI SDK does not have. */
export interface ToolOptions<Input = unknown> extends Pick<ToolCall, 'timeout' | 'retries' | 'recoveries' | 'onCrash'> {
  /** How a person is asked, if the tool needs approval. */
  readonly approval?: {
    /** What the person decides. Default: the title of the tool or, without one, its description. */
    readonly title?: string | ((input: Input) => string)
    /** Time until the request expires; by default it never expires. */
    readonly timeout?: NonNullable<ApprovalOptions['timeout']>
  }
}

/** The part of a tool from which the type of its input follows. */
interface WithInput<Input> {
  // biome-ignore lint/suspicious/noExplicitAny: each version of the AI SDK has its own type of the second argument
  readonly execute?: ((input: Input, options: any) => unknown) | undefined
}

const OPTIONS: unique symbol = Symbol.for('perdure.tool-options') as never

/** Adds options to a tool of the AI SDK. Outside of Perdure, the tool is used without them. */
export function toolOptions<Tool extends object>(
  tool: Tool,
  options: ToolOptions<Tool extends WithInput<infer Input> ? Input : unknown>,
): Tool {
  const known = Object.keys(options).find((name) => !NAMES.has(name))
  if (known !== undefined) throw new TypeError(`toolOptions: there is no option ${JSON.stringify(known)}`)
  return { ...tool, [OPTIONS]: options }
}

const NAMES: ReadonlySet<string> = new Set(['timeout', 'retries', 'recoveries', 'onCrash', 'approval'])

export const toolOptionsOf = (tool: object): ToolOptions<never> =>
  (tool as { readonly [OPTIONS]?: ToolOptions<never> })[OPTIONS] ?? {}
