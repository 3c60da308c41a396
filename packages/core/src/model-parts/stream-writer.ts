import type { StreamPart, TokenUsage } from './stream-part.ts'

/** What a stream said, as the step that drained it records it. */
export interface StreamSummary {
  readonly text: string
  readonly reasoning?: string
  readonly toolCalls: readonly StreamedToolCall[]
  readonly finishReason?: string
  readonly usage?: TokenUsage
  readonly model?: string
}

export interface StreamedToolCall {
  readonly toolCallId: string
  readonly toolName: string
  readonly args: unknown
}

type Writers = { readonly [Kind in StreamPart['kind']]: (part: Extract<StreamPart, { readonly kind: Kind }>) => void }

type Emit = (type: string, payload: object) => Promise<void>

/** A block that an earlier try of the stream has opened. */
export interface WrittenBlock {
  readonly of: 'text' | 'reasoning'
  readonly blockId: string
}

export interface StreamWriter {
  /** Withdraws what earlier tries said. */
  begin(earlier: readonly WrittenBlock[]): void
  write(part: StreamPart): void
  /** Closes the open blocks. */
  end(): void
  /** Resolves when everything written so far is durable. */
  flush(): Promise<void>
  blocks(): readonly WrittenBlock[]
  summary(): StreamSummary
}

/**
 * Writes the parts of a stream as events of the run. The blocks have ids that a repetition of the stream gets again, so
 * that readers drop what the earlier try said.
 */
export function createStreamWriter(messageId: string, emit: Emit): StreamWriter {
  const open = new Map<string, WrittenBlock>()
  const blocks: WrittenBlock[] = []
  const said = { text: '', reasoning: '' }
  const toolCalls = new Map<string, StreamedToolCall>()
  const startedTools = new Map<string, string>()
  let finishReason: string | undefined
  let model: string | undefined
  let usage: TokenUsage | undefined
  let parts = 0
  let newest: Promise<void> = Promise.resolve()

  const tell: (...event: Parameters<Emit>) => void = (type, payload) => {
    newest = emit(type, payload)
  }
  const endAll = (isMeant: (key: string) => boolean) => {
    for (const [key, { of, blockId }] of open) {
      if (!isMeant(key)) continue
      open.delete(key)
      tell(`${of}.end`, { messageId, blockId })
    }
  }
  const openBlock = (of: WrittenBlock['of'], key: string): WrittenBlock => {
    const known = open.get(key)
    if (known !== undefined) return known
    endUnnamed()
    const block = { of, blockId: `${messageId}.${blocks.length + 1}` }
    blocks.push(block)
    open.set(key, block)
    tell(`${of}.start`, { messageId, blockId: block.blockId })
    return block
  }
  /** A block that its library does not name ends where something else begins. */
  const endUnnamed = () => endAll((key) => key.endsWith(':'))

  const writers: Writers = {
    block({ of, op, id }) {
      const key = `${of}:${id}`
      if (op === 'start') openBlock(of, key)
      else endAll((one) => one === key)
    },
    delta({ of, id = '', delta }) {
      if (delta === '') return
      const { blockId } = openBlock(of, `${of}:${id}`)
      said[of] += delta
      tell(`${of}.delta`, { messageId, blockId, delta })
    },
    heard({ of, delta }) {
      said[of] += delta
    },
    'tool-start'({ id: toolCallId, name: toolName, tool }) {
      endUnnamed()
      startedTools.set(toolCallId, toolName)
      tell('tool.call.start', { toolCallId, toolName, ...tool })
    },
    'tool-delta'({ id: toolCallId, delta: argsDelta }) {
      const toolName = startedTools.get(toolCallId)
      if (toolName !== undefined) tell('tool.call.delta', { toolCallId, toolName, argsDelta })
    },
    'tool-call'({ id: toolCallId, name: toolName, args, tool }) {
      endUnnamed()
      if (!startedTools.has(toolCallId)) tell('tool.call.start', { toolCallId, toolName, ...tool })
      toolCalls.set(toolCallId, { toolCallId, toolName, args })
      tell('tool.call.end', { toolCallId, toolName, args, ...tool })
    },
    'tool-result'({ id: toolCallId, result }) {
      endUnnamed()
      tell('tool.result', { toolCallId, ...result })
    },
    part({ type, payload }) {
      endUnnamed()
      const id = `${messageId}.part${++parts}`
      tell(type, {
        ...(type === 'part.file' ? { fileId: id } : {}),
        ...(type === 'part.source' ? { sourceId: id } : {}),
        ...payload,
      })
    },
    usage({ usage: more, isTotal }) {
      usage = isTotal || usage === undefined ? more : sum(usage, more)
    },
    model(part) {
      model = part.model
    },
    finish({ reason }) {
      finishReason = reason
    },
    failure({ error }) {
      throw error instanceof Error ? error : new Error(messageOf(error))
    },
  }

  return {
    begin(earlier) {
      for (const { of, blockId } of earlier) {
        tell(`${of}.start`, { messageId, blockId })
        tell(`${of}.end`, { messageId, blockId })
      }
    },
    write(part) {
      const write = writers[part.kind] as (one: StreamPart) => void
      write(part)
    },
    end: () => endAll(() => true),
    flush: () => newest,
    blocks: () => blocks,
    summary: () => ({
      text: said.text,
      ...(said.reasoning === '' ? {} : { reasoning: said.reasoning }),
      toolCalls: [...toolCalls.values()],
      ...(finishReason === undefined ? {} : { finishReason }),
      ...(usage === undefined ? {} : { usage }),
      ...(model === undefined ? {} : { model }),
    }),
  }
}

const sum = (one: TokenUsage, other: TokenUsage): TokenUsage => ({
  inputTokens: one.inputTokens + other.inputTokens,
  ...(one.cachedInputTokens === undefined && other.cachedInputTokens === undefined
    ? {}
    : { cachedInputTokens: (one.cachedInputTokens ?? 0) + (other.cachedInputTokens ?? 0) }),
  outputTokens: one.outputTokens + other.outputTokens,
})

const messageOf = (error: unknown): string => {
  if (typeof error === 'string') return error
  const { message } = Object(error) as { readonly message?: unknown }
  return typeof message === 'string' ? message : 'the stream failed'
}
