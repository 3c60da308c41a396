import type { RecordedToolCall } from '@perdure/core'
import { isFunction } from '../sdk.ts'
import type { ExecuteOptions, ToolLike, Tools } from '../tools/tool.ts'
import { type DivergenceOptions, divergenceError, type RunDivergence } from './divergence.ts'
import { type RecordingSource, readRecording } from './recording-source.ts'

export interface RecordedToolsOptions extends DivergenceOptions {
  /** The result of `onDivergence: 'stub'`. */
  readonly stub?: (call: { readonly toolName: string; readonly input: unknown }) => unknown
}

/**
 * The tools with the results of a recorded run in place of their executions. A call is found by its id, or by its tool and
 * arguments. A tool without `execute` stays as it is, because the client performs it.
 */
export function recordedTools<Given extends object>(
  runs: RecordingSource | readonly RecordingSource[],
  tools: Given,
  options: RecordedToolsOptions = {},
): Given {
  const recordings = (Array.isArray(runs) ? runs : [runs]).map(readRecording)
  const left = recordings.flatMap(({ calls }) => calls.filter((call) => call.kind === 'tool'))

  const take = (toolName: string, input: unknown, toolCallId: unknown): RecordedToolCall | RunDivergence => {
    const isSame = (call: RecordedToolCall) => call.toolName === toolName && hasSame(call.args, input)
    const byId = left.findIndex((call) => call.toolCallId === toolCallId)
    const index = byId !== -1 ? byId : left.findIndex(isSame)
    const found = left[index]
    if (found === undefined) {
      const next = left[0]
      const detail = `${toolName}(${JSON.stringify(input)}) is not in the recording`
      return { ...(next === undefined ? {} : { seq: next.seq }), part: 'tool call', detail }
    }
    const { seq } = found
    if (found.toolName !== toolName)
      return { seq, part: 'tool call', detail: `${toolName} instead of ${found.toolName}` }
    if (!hasSame(found.args, input)) {
      return {
        seq,
        part: 'arguments',
        detail: `${toolName}(${JSON.stringify(input)}) instead of ${JSON.stringify(found.args)}`,
      }
    }
    if (found.isResultInFile === true) {
      return {
        seq,
        part: 'result',
        detail: `the result of ${toolName} is in a file, which the recording does not have`,
      }
    }
    left.splice(index, 1)
    return found
  }

  const recorded = (toolName: string, tool: ToolLike): ToolLike => {
    const { execute } = tool
    if (!isFunction(execute)) return tool
    return {
      ...tool,
      async execute(input: unknown, sdk: ExecuteOptions) {
        const taken = take(toolName, input, sdk.toolCallId)
        if ('kind' in taken) return outcomeOf(taken)
        options.onDiverged?.(taken)
        const { onDivergence = 'stop', stub } = options
        if (onDivergence === 'real') return execute(input, sdk)
        if (onDivergence === 'stub' && stub !== undefined) return stub({ toolName, input })
        throw divergenceError(taken)
      },
    }
  }
  return Object.fromEntries(
    Object.entries(tools as Tools).map(([name, tool]) => [name, recorded(name, tool)]),
  ) as unknown as Given
}

/** @throws Error with the message and the kind of a recorded failure */
function outcomeOf({ error, result }: RecordedToolCall): unknown {
  if (error === undefined) return result
  throw Object.assign(new Error(error.message), { kind: error.kind })
}

const hasSame = (one: unknown, other: unknown): boolean => sorted(one) === sorted(other)

/** The value as JSON with sorted members. */
const sorted = (value: unknown): string =>
  JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([one], [other]) => (one < other ? -1 : 1)))
      : member,
  ) ?? 'undefined'
