import type { RecordedModelCall, RecordedPart } from '@perdure/core'
import { type Answer, blockOf, type Chunks, toolOf } from './scripted-answer.ts'

/** A recorded answer as a model of the SDK gives it. */
export function recordedAnswer({ answer, finishReason, usage }: RecordedModelCall): Answer {
  const chunks = answer.map((part, index) => chunksOf(part, { index, answer }))
  const { inputTokens, outputTokens, cachedInputTokens } = usage ?? {}
  const noCache = inputTokens === undefined ? undefined : inputTokens - (cachedInputTokens ?? 0)
  return {
    content: chunks.map(({ whole }) => whole),
    parts: chunks.flatMap(({ streamed }) => streamed),
    finish: {
      finishReason: { unified: finishReason, raw: undefined },
      usage: {
        inputTokens: { total: inputTokens, noCache, cacheRead: cachedInputTokens, cacheWrite: undefined },
        outputTokens: { total: outputTokens, text: outputTokens, reasoning: undefined },
      },
    },
  }
}

interface Place {
  readonly index: number
  readonly answer: readonly RecordedPart[]
}

function chunksOf(part: RecordedPart, { index, answer }: Place): Chunks {
  if ('text' in part) return blockOf('text', part.text, index)
  if ('reasoning' in part) return blockOf('reasoning', part.reasoning, index)
  if ('toolName' in part) {
    const { toolName, toolCallId, args } = part
    const input = typeof args === 'string' ? args : JSON.stringify(args)
    const isProvided = answer.some((other) => 'result' in other && other.toolCallId === toolCallId)
    return toolOf({ toolName, input, ...(isProvided ? { providerExecuted: true } : {}) }, toolCallId)
  }
  return alone(wholePart(part, { index, answer }))
}

function wholePart(part: Exclude<RecordedPart, { readonly text: string }>, { index, answer }: Place): object {
  if ('url' in part) {
    const { sourceId: id = `source-${index + 1}`, ...source } = part
    return { type: 'source', sourceType: 'url', id, ...source }
  }
  if (!('result' in part)) return { type: 'file', ...part }
  const asked = answer.find((other) => 'toolName' in other && other.toolCallId === part.toolCallId)
  const toolName = asked !== undefined && 'toolName' in asked ? asked.toolName : ''
  return { type: 'tool-result', toolName, ...part, providerExecuted: true }
}

const alone = (whole: object): Chunks => ({ whole: { ...whole }, streamed: [{ ...whole }] })
