import { isRefusal, type StreamAnswer } from '@perdure/ports'
import { targetOf } from '../chat/limited-streams.ts'
import type { ProtocolCall } from '../handlers.ts'
import type { Frame, FrameSharing, Projector } from '../projection.ts'
import type { AnsweringRun, OpenaiDeps } from './openai-call.ts'

/** A projector that knows when its answer has ended, also before its run has. */
export interface AnswerProjector extends Projector {
  isOver(): boolean
}

interface AnswerStream {
  readonly projector: AnswerProjector
  /** Missing: the frames are for this client only. */
  readonly sharing?: FrameSharing | undefined
  /** Default: with the first event. */
  readonly start?: 'first' | 'now'
}

/** Streams a segment of a run. @throws PerdureError `run-not-found`, `overloaded` */
export const streamAnswer = (
  { openProjectedStream }: Pick<OpenaiDeps, 'openProjectedStream'>,
  { principal, visibility, place, lastEventId }: ProtocolCall,
  { run, replayed }: AnsweringRun,
  { projector, sharing, start = 'first' }: AnswerStream,
): Promise<StreamAnswer> =>
  openProjectedStream({
    ...{ runId: run.id, target: targetOf(run), visibility, place, lastEventId, projector, sharing, start },
    tokenId: principal.tokenId,
    headers: answerHeaders(run.id, replayed),
  })

/**
 * Waits for the end of a segment. `false` if the server cannot wait any longer: too many clients wait, or it stops.
 *
 * @throws PerdureError `run-not-found`
 */
export async function awaitAnswer(
  { readProjectedStream }: Pick<OpenaiDeps, 'readProjectedStream'>,
  { principal, visibility, place }: ProtocolCall,
  { run }: AnsweringRun,
  projector: AnswerProjector,
): Promise<boolean> {
  const { tokenId } = principal
  const silent: AnswerProjector = {
    next(event) {
      projector.next(event)
      return NOTHING
    },
    opening: () => NOTHING,
    rest: () => (projector.rest() === undefined ? undefined : NOTHING),
    isOver: projector.isOver,
  }
  try {
    const target = targetOf(run)
    await readProjectedStream({ runId: run.id, target, visibility, tokenId, place, projector: silent, start: 'first' })
  } catch (error) {
    if (!(isRefusal(error) && error.code === 'overloaded')) throw error
  }
  return projector.isOver()
}

const NOTHING: readonly Frame[] = []

export const jsonAnswer = (
  body: object,
  { run, replayed }: AnsweringRun,
  { status = 200, headers = {} }: { readonly status?: number; readonly headers?: Record<string, string> } = {},
): Response =>
  new Response(JSON.stringify(body), {
    status,
    headers: { 'Content-Type': 'application/json; charset=utf-8', ...answerHeaders(run.id, replayed), ...headers },
  })

const answerHeaders = (runId: string, replayed: boolean | undefined): Record<string, string> => ({
  'X-Perdure-Run-Id': runId,
  ...(replayed === true ? { 'Idempotency-Replayed': 'true' } : {}),
})
