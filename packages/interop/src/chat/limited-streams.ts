import type { LogEvent } from '@perdure/core'
import type { StreamAnswer } from '@perdure/ports'
import type { FrameSharing, Projector } from '../projection.ts'
import type { FailingRun } from './error-mask.ts'
import { limitOf, type ShownLogDeps } from './run-log.ts'

interface Projected {
  readonly runId: string
  /** The agent or workflow, whose registration says how clients see errors. */
  readonly target: RunTargetId
  readonly projector: Projector
  readonly sharing?: FrameSharing | undefined
}

/** Names the agent or workflow of a run. */
export type RunTargetId = { readonly kind: FailingRun['kind']; readonly id: string }

export const targetOf = ({ kind, targetId }: Pick<FailingRun, 'kind' | 'targetId'>): RunTargetId => ({
  kind,
  id: targetId,
})

/** The stream functions that the server gives to the protocols. */
interface Streams<Opened, Read, Joined> {
  readonly openProjectedStream: (request: Opened) => Promise<StreamAnswer>
  readonly readProjectedStream: (request: Read) => Promise<string>
  readonly openJoinedStream: (request: Joined) => Promise<StreamAnswer>
}

/** The same functions for streams that show no more of a log, and of errors, than any other answer. */
export function limitedStreams<
  Opened extends Projected,
  Read extends Projected,
  Joined extends { readonly streams: readonly Projected[] },
>(limits: ShownLogDeps, streams: Streams<Opened, Read, Joined>): Streams<Opened, Read, Joined> {
  const limited = <Request extends Projected>(request: Request): Request => {
    const { projector, sharing, runId, target } = request
    const run = { id: runId, kind: target.kind, targetId: target.id }
    const withLimit = (one: Projector): Projector => {
      const limit = limitOf(limits, run)
      const next = (event: LogEvent) => {
        const taken = limit.take(event)
        const [first] = taken
        return first !== undefined && taken.length === 1 ? one.next(first) : taken.flatMap(one.next)
      }
      return { ...one, next, needs: limit.needs }
    }
    const shared = sharing === undefined ? {} : { sharing: { ...sharing, renew: () => withLimit(sharing.renew()) } }
    return { ...request, projector: withLimit(projector), ...shared }
  }
  return {
    openProjectedStream: (request) => streams.openProjectedStream(limited(request)),
    readProjectedStream: (request) => streams.readProjectedStream(limited(request)),
    openJoinedStream: (request) =>
      streams.openJoinedStream({ ...request, streams: request.streams.map((one) => limited(one)) }),
  }
}
