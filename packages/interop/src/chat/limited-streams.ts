import type { Projector } from '../projection.ts'
import { limitOf, type RunLogDeps } from './run-log.ts'

interface Projected {
  readonly runId: string
  readonly projector: Projector
}

/** The stream functions that the server gives to the protocols. */
interface Streams<Opened, Read, Joined> {
  readonly openProjectedStream: (request: Opened) => Promise<Response>
  readonly readProjectedStream: (request: Read) => Promise<string>
  readonly openJoinedStream: (request: Joined) => Promise<Response>
}

/** The same functions for streams that show no more of a log than any other answer. */
export function limitedStreams<
  Opened extends Projected,
  Read extends Projected,
  Joined extends { readonly streams: readonly Projected[] },
>(
  limits: Pick<RunLogDeps, 'basePath' | 'maxAnswerBytes'>,
  streams: Streams<Opened, Read, Joined>,
): Streams<Opened, Read, Joined> {
  const limited = <Request extends Projected>(request: Request): Request => {
    const { projector, runId } = request
    const limit = limitOf(limits, runId)
    const next: Projector['next'] = (event) => limit.take(event).flatMap(projector.next)
    return { ...request, projector: { ...projector, next, needs: limit.needs } }
  }
  return {
    openProjectedStream: (request) => streams.openProjectedStream(limited(request)),
    readProjectedStream: (request) => streams.readProjectedStream(limited(request)),
    openJoinedStream: (request) =>
      streams.openJoinedStream({ ...request, streams: request.streams.map((one) => limited(one)) }),
  }
}
