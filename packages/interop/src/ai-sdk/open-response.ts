import type { ListedRun, StreamAnswer } from '@perdure/ports'
import { viaIn } from '../chat/awaited-input.ts'
import type { ChatCall, OpenProjectedStream } from '../chat/chat-call.ts'
import { beginLog, type RunLogDeps, readLog } from '../chat/run-log.ts'
import { countChunks, withChunkIndex } from './chunk-index.ts'
import { createAiSdkProjector } from './projector.ts'
import { type Continuation, type NamedResponse, responseName, startOf, versionOf } from './response-name.ts'

export interface OpenResponseDeps extends RunLogDeps {
  readonly openProjectedStream: OpenProjectedStream
}

interface Opening extends NamedResponse {
  readonly sessionId: string | undefined
  /** Whether an earlier request with the same key started the run. */
  readonly replayed?: boolean | undefined
  /** The index of the first chunk that the client does not have. */
  readonly from?: number
  /** The index of the newest chunk. */
  readonly tail?: number
  /** Whether the response begins with what the run has shown so far, without withdrawn parts. */
  readonly isCompact?: boolean
}

const HEADERS = { 'x-vercel-ai-ui-message-stream': 'v1' }

/** Opens the responses of runs as UI message streams. */
export function createOpenResponse(deps: OpenResponseDeps) {
  const open = (
    { agentId, principal, place, lastEventId, visibility }: ChatCall,
    { runId, sessionId, version, after, replayed, from = 0, tail, isCompact = false }: Opening,
  ): Promise<StreamAnswer> => {
    const start = isCompact ? 'now' : startOf(after)
    const project = () => createAiSdkProjector({ runId, agentId, sessionId }, versionOf(version))
    const shown =
      start === 'now' || from === 0
        ? { projector: project(), sharing: { form: `ai-sdk ${version}`, renew: project } }
        : { projector: withChunkIndex(project(), { start, from }) }
    return deps.openProjectedStream({
      ...{ runId, target: { kind: 'agent', id: agentId }, visibility, place, lastEventId, start },
      ...shown,
      tokenId: principal.tokenId,
      headers: {
        ...HEADERS,
        'X-Perdure-Run-Id': runId,
        'X-Workflow-Run-Id': responseName({ runId, after, version }),
        ...(tail === undefined ? {} : { 'X-Workflow-Stream-Tail-Index': String(tail) }),
        ...(replayed === true ? { 'Idempotency-Replayed': 'true' } : {}),
      },
    })
  }

  /** What the newest message of the run answers: the message of the user that the run had asked for. */
  const newestQuestion = async ({ agentId }: ChatCall, run: ListedRun): Promise<Continuation | undefined> => {
    if (run.suspension === undefined) return undefined
    const projector = createAiSdkProjector({ runId: run.id, agentId, sessionId: run.sessionId }, 7)
    let count = 1
    let after: Continuation | undefined
    await readLog(deps, run, await beginLog(deps, run), (event) => {
      projector.next(event)
      if (projector.messages().length === count) return
      count += 1
      const ref = viaIn(event.payload)
      after = typeof ref === 'string' ? { ref } : undefined
    })
    return after
  }

  return {
    open,
    newestQuestion,
    /** Streams the chunks of a response from an index. A negative one counts from the end. */
    async openFrom(
      call: ChatCall,
      run: ListedRun,
      { startIndex, ...response }: NamedResponse & { readonly startIndex: number },
    ): Promise<StreamAnswer> {
      const { id: runId, sessionId } = run
      if (startIndex >= 0) return open(call, { ...response, sessionId, from: startIndex })
      const view = { runId, agentId: call.agentId, sessionId }
      const projector = createAiSdkProjector(view, versionOf(response.version))
      const count = await countChunks(deps, run, { projector, start: startOf(response.after) })
      return open(call, { ...response, sessionId, from: Math.max(0, count + startIndex), tail: count - 1 })
    },
  }
}

/** For `WorkflowChatTransport`, which takes a response without `finish` for one that broke. */
export const nothingToFollow = (): Response =>
  new Response('data: {"type":"finish"}\n\ndata: [DONE]\n\n', {
    headers: { ...HEADERS, 'Content-Type': 'text/event-stream; charset=utf-8', 'Cache-Control': 'no-cache' },
  })
