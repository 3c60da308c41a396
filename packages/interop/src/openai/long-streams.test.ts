import type { RunTargets } from '@perdure/core'
import type { StreamAnswer } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { limitedStreams } from '../chat/limited-streams.ts'
import type { Frame, Projector } from '../projection.ts'
import { logOf, RUN } from '../run-logs/events.fixture.ts'
import { createResponseProjector } from './response-projector.ts'

const MAX_ANSWER = 400_000

const targets = { find: () => undefined } as unknown as Pick<RunTargets, 'find'>

const NOTHING: StreamAnswer = {
  ...{ status: 200, headers: {} },
  stream: { pipeTo: (sink) => sink.end(), cancel: () => undefined },
}

/** The frames of a stream of the whole log, as the server limits it. */
async function streamed(projector: Projector, length: number): Promise<readonly Frame[]> {
  let limited = projector
  const open = async ({ projector: given }: { readonly projector: Projector }) => {
    limited = given
    return NOTHING
  }
  const { openProjectedStream } = limitedStreams(
    { basePath: '/v1', maxAnswerBytes: MAX_ANSWER, targets },
    { openProjectedStream: open, readProjectedStream: async () => '', openJoinedStream: async () => NOTHING },
  )
  await openProjectedStream({ runId: RUN, target: { kind: 'agent', id: 'mail' }, projector })
  const deltas = Array.from({ length: length / 1_000 }, () => [
    'text.delta',
    { messageId: 'm', delta: 'x'.repeat(1_000) },
  ])
  const events = [
    ['run.started', { status: 'running', attempt: 1 }],
    ...deltas,
    ['run.completed', { status: 'completed', attempt: 1, finishReason: 'completed' }],
  ] as [string, unknown][]
  return logOf(events).flatMap((event) => limited.next(event))
}

const response = () =>
  createResponseProjector({
    ...{ runId: RUN, agentId: 'mail', model: 'mail', segment: 1, startedAt: 1, metadata: {}, isBackground: false },
  })

describe('the stream of a response that is longer than an answer may be', () => {
  it('ends as incomplete with the route for the rest, and no frame is longer than an answer', async () => {
    const frames = await streamed(response(), 20 * MAX_ANSWER)

    const last = JSON.parse(frames.at(-1)?.data ?? '')
    expect(last).toMatchObject({
      type: 'response.incomplete',
      response: {
        incomplete_details: { reason: 'max_output_tokens' },
        metadata: { perdure_rest: `/v1/runs/${RUN}/events` },
      },
    })
    const sizes = frames.map(({ data }) => data.length)
    expect(Math.max(...sizes)).toBeLessThan(MAX_ANSWER + 2_000)
    // The text comes as deltas, and five times as a whole: with its end, its part and its item, and twice in the response.
    const text = last.response.output_text.length
    expect(text).toBeGreaterThan(MAX_ANSWER / 2 - 2_000)
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(6 * text + 400 * frames.length)
  })
})
