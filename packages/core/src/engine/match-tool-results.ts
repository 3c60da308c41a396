import {
  fromJsonText,
  perdureError,
  type RunRecord,
  type StepRecord,
  type StepStore,
  toJsonText,
  type YieldTurn,
} from '@perdure/ports'
import { isTerminal } from '@perdure/protocol'
import type { ToolResult } from '../durable/tool.ts'
import type { ResolvedWait } from '../durable/wait-resolution.ts'
import { isLongerThan, jsonOrUndefined } from '../json/json-members.ts'
import { clientToolCallId } from '../runs/tool-call-wait.ts'
import { type CallReads, callPages } from '../runs/waiting-for.ts'

/** What a client says about a tool call that it has performed. */
export interface SentToolResult {
  readonly toolCallId: string
  readonly result?: unknown
  /** Why the tool failed; without it, the tool has succeeded. */
  readonly error?: string | undefined
}

/** A tool result for a call that waits for it. */
export interface MatchedToolResult extends ResolvedWait {
  readonly outcome: ToolResult
}

export interface MatchDeps {
  readonly steps: StepStore
  readonly yieldTurn: YieldTurn
  readonly maxResultBytes: number
}

/**
 * Finds the call of each result. A result that the call has received before is left out.
 *
 * @throws PerdureError `validation-failed` for two results of one call, or a result that is too long; `tool-call-not-found`;
 *   `tool-call-ended` for another result than the call has received; `run-not-active` if the run ended without a result
 */
export async function matchToolResults(
  deps: MatchDeps,
  run: RunRecord,
  results: readonly SentToolResult[],
): Promise<readonly MatchedToolResult[]> {
  if (results.length === 0) return []
  const ids = new Set(results.map(({ toolCallId }) => toolCallId))
  if (ids.size < results.length) {
    throw perdureError('validation-failed', { message: 'toolResults: two results name the same tool call' })
  }
  const open = await clientToolCalls(deps, run.id, 'waiting')
  const all = results.every(({ toolCallId }) => open.has(toolCallId)) ? open : await clientToolCalls(deps, run.id)
  const matched: MatchedToolResult[] = []
  for (const sent of results) {
    const step = all.get(sent.toolCallId)
    if (step === undefined) throw notFound(sent)
    const outcome = outcomeOf(sent)
    const result = resultText(deps, sent, outcome)
    if (step.status === 'completed') await requireSame(deps.steps, step, { sent, result })
    else if (step.status === 'failed' || isTerminal(run.status)) throw perdureError('run-not-active')
    else matched.push({ step, result, outcome })
  }
  return matched
}

/** The calls of client tools that the run has made, by the id of the tool call. */
export async function clientToolCalls(
  reads: CallReads,
  runId: string,
  status?: 'waiting',
): Promise<ReadonlyMap<string, StepRecord>> {
  const calls = new Map<string, StepRecord>()
  for await (const page of callPages(reads, runId, status)) {
    for (const step of page) {
      const id = clientToolCallId(step)
      if (id !== undefined) calls.set(id, step)
    }
  }
  return calls
}

const outcomeOf = ({ result = null, error }: SentToolResult): ToolResult =>
  error === undefined ? { ok: true, value: result } : { ok: false, error: { kind: 'execution_failed', message: error } }

function resultText({ maxResultBytes }: MatchDeps, { toolCallId }: SentToolResult, outcome: ToolResult) {
  const text = jsonOrUndefined(outcome)
  if (text !== undefined && !isLongerThan(text, maxResultBytes)) return text
  throw perdureError('validation-failed', {
    message: `toolResults: the result of ${toolCallId} must be JSON of at most ${maxResultBytes} bytes`,
  })
}

const notFound = ({ toolCallId }: SentToolResult) =>
  perdureError('tool-call-not-found', {
    message: `the run has made no call ${JSON.stringify(toolCallId)} of a client tool`,
    hint: 'send the toolCallId that waitingFor of the run shows',
  })

async function requireSame(
  steps: StepStore,
  { runId, seq }: StepRecord,
  { sent, result }: { readonly sent: SentToolResult; readonly result: string },
): Promise<void> {
  const stored = (await steps.find(runId, seq))?.result
  if (stored !== undefined && toJsonText(fromJsonText(stored)) === result) return
  throw perdureError('tool-call-ended', {
    message: `the tool call ${JSON.stringify(sent.toolCallId)} has already ended`,
    hint: 'read the result that the call has received from the events of the run',
  })
}
