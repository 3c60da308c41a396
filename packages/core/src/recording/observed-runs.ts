import type { ResolvedApprovalStatus } from '@perdure/protocol'
import type { RecordedUsage, RunRecording } from './recording.ts'

export interface ToolUse {
  readonly toolName: string
  readonly toolCallId: string
  readonly args: unknown
  readonly result?: unknown
  readonly error?: { readonly kind: string; readonly message: string }
  /** Whether the tool was executed; a denied call was not. */
  readonly executed: boolean
}

/** What recordings show of their runs. */
export interface ObservedRuns {
  /** The calls of tools, in their order, also those that were denied. */
  readonly toolCalls: readonly ToolUse[]
  /** Decisions on approvals, in their order. */
  readonly decisions: readonly { readonly name: string; readonly decision: ResolvedApprovalStatus }[]
  readonly usage: RecordedUsage
  /** The runs, oldest first. */
  readonly recordings: readonly RunRecording[]
}

export function observedRuns(recordings: readonly RunRecording[]): ObservedRuns {
  const calls = recordings.flatMap((recording) => recording.calls)
  return {
    recordings,
    toolCalls: recordings.flatMap(toolUses),
    decisions: calls.flatMap((call) =>
      call.kind === 'decision' ? [{ name: call.name, decision: call.decision }] : [],
    ),
    usage: recordings.map(({ run }) => run.usage).reduce<RecordedUsage>(sumOfUsage, NO_RECORDED_USAGE),
  }
}

export const NO_RECORDED_USAGE: RecordedUsage = { inputTokens: 0, outputTokens: 0, costUsd: 0 }

export const sumOfUsage = (one: RecordedUsage, other: RecordedUsage): RecordedUsage => ({
  inputTokens: one.inputTokens + other.inputTokens,
  outputTokens: one.outputTokens + other.outputTokens,
  costUsd: one.costUsd + other.costUsd,
})

/** The text that a result is, or has as its member `text`; `undefined` for any other result. */
export function textInResult(result: unknown): string | undefined {
  if (typeof result === 'string') return result
  const hasText = typeof result === 'object' && result !== null && 'text' in result
  return hasText && typeof result.text === 'string' ? result.text : undefined
}

/** The text of the last answer. */
export function answerText(result: unknown, { calls }: RunRecording): string {
  const text = textInResult(result)
  if (text !== undefined) return text
  const last = calls.findLast((call) => call.kind === 'model')
  return last === undefined ? '' : last.answer.flatMap((part) => ('text' in part ? [part.text] : [])).join('')
}

/** What the models asked for, with its outcomes, and the tools that the code called by itself. */
function toolUses({ calls }: RunRecording): readonly ToolUse[] {
  const outcomes = new Map(calls.flatMap((call) => (call.kind === 'tool' ? [[call.toolCallId, call] as const] : [])))
  const asked = new Set<string>()
  return calls.flatMap((call): readonly ToolUse[] => {
    if (call.kind === 'model') {
      return call.answer.flatMap((part): readonly ToolUse[] => {
        if (!('toolName' in part)) return []
        asked.add(part.toolCallId)
        const { result, error } = outcomes.get(part.toolCallId) ?? {}
        return [{ ...part, executed: outcomes.has(part.toolCallId), ...definedOf({ result, error }) }]
      })
    }
    if (call.kind !== 'tool' || asked.has(call.toolCallId)) return []
    const { toolName, toolCallId, args, result, error } = call
    return [{ toolName, toolCallId, args, executed: true, ...definedOf({ result, error }) }]
  })
}

const definedOf = ({ result, error }: Pick<ToolUse, 'result'> & { readonly error?: ToolUse['error'] | undefined }) => ({
  ...(result === undefined ? {} : { result }),
  ...(error === undefined ? {} : { error }),
})
