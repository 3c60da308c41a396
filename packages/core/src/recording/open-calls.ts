import type { ModelRequest } from '../durable/model-request.ts'
import { isChunk } from '../model-parts/stream-part.ts'
import type { RecordedCall, RecordedDecision, RecordedModelCall, RecordedPart, RecordedToolCall } from './recording.ts'

export type OpenCalls = ReturnType<typeof openCalls>

interface OpenModel {
  readonly seq: number
  readonly startedAt: string | undefined
  readonly request: ModelRequest | undefined
  readonly answer: Piece[]
  usage: RecordedModelCall['usage']
  ended: Ending | undefined
}

interface Ending {
  readonly finishReason: string | undefined
  readonly at: string | undefined
}

/** A part; a block of text has the id that a repetition of the answer gets again. */
interface Piece {
  readonly blockId?: string
  part: RecordedPart
}

type Delta = { readonly messageId: string | undefined; readonly blockId: string; readonly delta: string }

/** The calls of a run while its log is read. */
export function openCalls() {
  const models = new Map<number, OpenModel>()
  const calls: RecordedCall[] = []
  const tools = new Map<string, RecordedToolCall>()
  let newestSeq = 0
  const startedAt = new Map<number, string | undefined>()

  /** An answer that a later event belongs to; the newest one, unless the event names another. */
  const modelOf = (messageId?: string): OpenModel | undefined => {
    const named = messageId === undefined ? undefined : models.get(Number(messageId.split('.').at(-1)))
    return named ?? [...models.values()].findLast(({ ended }) => ended === undefined)
  }

  /**
   * The answer whose text a transformed stream shows: the newest one that shows no text itself. The log has such a text
   * only as the stream returned it.
   */
  const transformed = (): OpenModel | undefined => {
    const newest = [...models.values()].at(-1)
    const showsText = newest?.answer.some(({ part, blockId }) => 'text' in part && !isOfStream(blockId))
    return showsText === true ? undefined : newest
  }

  return {
    start(seq: number, name: string, { request, at }: { request: unknown; at: string | undefined }): void {
      newestSeq = seq
      startedAt.set(seq, at)
      models.delete(seq)
      if (name !== 'model' && !isChunk(request)) return
      const given = isChunk(request) ? (request as unknown as ModelRequest) : undefined
      models.set(seq, { seq, startedAt: at, request: given, answer: [], usage: undefined, ended: undefined })
    },
    end(seq: number, ending: Ending): void {
      const model = models.get(seq)
      if (model !== undefined) model.ended = ending
    },
    fail: (seq: number): void => void models.delete(seq),
    append(of: 'text' | 'reasoning', { messageId, blockId, delta }: Delta): void {
      const known = [...models.values()].flatMap(({ answer }) => answer).find((piece) => piece.blockId === blockId)
      if (known === undefined) begin({ messageId, blockId }, of === 'text' ? { text: delta } : { reasoning: delta })
      else if ('text' in known.part) known.part = { text: known.part.text + delta }
      else if ('reasoning' in known.part) known.part = { reasoning: known.part.reasoning + delta }
    },
    withdraw(blockId: string): void {
      for (const { answer } of models.values()) {
        const index = answer.findIndex((piece) => piece.blockId === blockId)
        if (index !== -1) answer.splice(index, 1)
      }
    },
    answer: (part: RecordedPart): void => void modelOf()?.answer.push({ part }),
    provided(toolCallId: string, result: unknown): void {
      const asked = modelOf()?.answer.some(({ part }) => 'toolName' in part && part.toolCallId === toolCallId)
      if (asked === true) modelOf()?.answer.push({ part: { toolCallId, result } })
      else if (!tools.has(toolCallId)) finish(toolCallId, { result })
    },
    use(usage: NonNullable<RecordedModelCall['usage']>): void {
      const model = modelOf()
      if (model !== undefined) model.usage = usage
    },
    execute(toolCallId: string, { seq, toolName, args }: Pick<RecordedToolCall, 'seq' | 'toolName' | 'args'>): void {
      const at = startedAt.get(seq)
      tools.set(toolCallId, {
        ...{ kind: 'tool', seq, ...(at === undefined ? {} : { startedAt: at }) },
        ...{ toolCallId, toolName, args },
      })
    },
    executed: finish,
    decide: (decision: Omit<RecordedDecision, 'kind' | 'seq'>): void =>
      void calls.push({ kind: 'decision', seq: newestSeq, ...decision }),
    recorded: (): readonly RecordedCall[] =>
      [...[...models.values()].flatMap(recordedModel), ...calls].toSorted((one, other) => one.seq - other.seq),
  }

  function begin({ messageId, blockId }: Omit<Delta, 'delta'>, part: RecordedPart): void {
    if (!isOfStream(messageId)) return void modelOf(messageId)?.answer.push({ blockId, part })
    const answer = transformed()?.answer
    const firstCall = answer?.findIndex((piece) => 'toolName' in piece.part) ?? -1
    answer?.splice(firstCall === -1 ? answer.length : firstCall, 0, { blockId, part })
  }

  /** A tool that failed and was repeated has the outcome of its last execution. */
  function finish(
    toolCallId: string,
    outcome: Pick<RecordedToolCall, 'result' | 'isResultInFile' | 'error' | 'endedAt'>,
  ): void {
    const started = tools.get(toolCallId) ?? askedOf(toolCallId)
    if (started === undefined) return
    const earlier = calls.findIndex((call) => call.kind === 'tool' && call.toolCallId === toolCallId)
    if (earlier !== -1) calls.splice(earlier, 1)
    calls.push({ ...started, ...outcome })
  }

  /** A tool that the client performed has no execution on the server. */
  function askedOf(toolCallId: string): RecordedToolCall | undefined {
    for (const { answer } of models.values()) {
      for (const { part } of answer) {
        if (!('toolName' in part) || part.toolCallId !== toolCallId) continue
        const { toolName, args } = part
        return { kind: 'tool', seq: newestSeq, toolCallId, toolName, args }
      }
    }
    return undefined
  }
}

/** The stream that a run returns writes under an id of its own. */
const isOfStream = (id: string | undefined): boolean => id !== undefined && /\.stream\d/.test(id)

function recordedModel({ seq, startedAt, request, answer, usage, ended }: OpenModel): readonly RecordedModelCall[] {
  if (ended === undefined) return []
  const { finishReason = 'other', at } = ended
  return [
    {
      ...({ kind: 'model', seq } as const),
      ...(startedAt === undefined ? {} : { startedAt }),
      ...(at === undefined ? {} : { endedAt: at }),
      ...(request === undefined ? {} : { request }),
      answer: answer.map(({ part }) => part),
      finishReason,
      ...(usage === undefined ? {} : { usage }),
    },
  ]
}
