import type { LogEvent } from '@perdure/core'
import { beginFold, foldLog, transcriptOf } from '@perdure/core'
import fc from 'fast-check'
import { APIError } from 'openai'
import { ChatCompletionStream } from 'openai/lib/ChatCompletionStream'
import { ResponseStream } from 'openai/lib/responses/ResponseStream'
import { describe, expect, it } from 'vitest'
import type { Frame, Projector } from '../projection.ts'
import { anyLog, logOf, RUN } from '../run-logs/events.fixture.ts'
import { runScript } from '../run-logs/run-script.fixture.ts'
import { createCompletionProjector } from './completion-projector.ts'
import { textOfMessage } from './output-items.ts'
import { createRepeatedCompletion } from './repeated-completion.ts'
import { createResponseProjector, resultBlock } from './response-projector.ts'
import { createSegments } from './segments.ts'

const numRuns = Number(process.env.PROTOCOL_LOGS ?? 120)

const VIEW = { runId: RUN, agentId: 'mail', model: 'mail', startedAt: 1 }
const responseOf = (segment = 1, after?: number) =>
  createResponseProjector({ ...VIEW, segment, metadata: {}, isBackground: true }, { after })
const completionOf = (segment = 1, isStreamed = true) =>
  createCompletionProjector({ ...VIEW, segment, isStreamed, hasUsage: true })

/** The frames that a reader gets who reads the log to its end. */
const framesOf = (projector: Projector, log: readonly LogEvent[]): readonly Frame[] => [
  ...log.flatMap((event) => projector.next(event)),
  ...(projector.rest() ?? []),
]

/** In the form in which the client reads a stream of another runtime. */
function toStream(frames: readonly Frame[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const { data } of frames) if (data !== '[DONE]') controller.enqueue(new TextEncoder().encode(`${data}\n`))
      controller.close()
    },
  })
}

const segmentsIn = (log: readonly LogEvent[]): number => {
  const segments = createSegments(RUN)
  for (const event of log) segments.next(event)
  return segments.current()
}

const dataOf = (frames: readonly Frame[]) =>
  frames.map(
    ({ data }) => JSON.parse(data) as { type: string; sequence_number: number; response?: { output_text: string } },
  )

/** The text of the items, in their order. */
const textsOf = (log: readonly LogEvent[]): readonly string[] => {
  const transcript = transcriptOf(foldLog(log, beginFold(RUN)))
  const said = transcript.items.flatMap((item) => {
    if (item.kind === 'message') return [textOfMessage(item)]
    return item.kind === 'text' && item.phase === undefined ? [item.text] : []
  })
  const result = transcript.status === 'completed' ? resultBlock(transcript) : undefined
  return [...said, ...(result === undefined ? [] : [result.text])].filter((text) => text !== '')
}

describe('the frames of a response', () => {
  it('are accepted by the official client, whatever the log holds, and add up to the response', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(anyLog, runScript), async (log) => {
        for (let segment = 1; segment <= segmentsIn(log); segment++) {
          const projector = responseOf(segment)
          const frames = framesOf(projector, log)
          if (frames.length === 0) continue
          const final = await ResponseStream.fromReadableStream(toStream(frames)).finalResponse()
          const { output, output_text } = projector.response() as typeof final
          expect(dataOf(frames).map(({ sequence_number }) => sequence_number)).toEqual(frames.map((_, index) => index))
          if (!projector.isOver()) continue
          expect(final).toMatchObject({ output, output_text })
        }
      }),
      { numRuns },
    )
  })

  it('continue after any of them', () => {
    fc.assert(
      fc.property(fc.oneof(anyLog, runScript), fc.nat({ max: 30 }), (log, after) => {
        const frames = framesOf(responseOf(), log)
        const rest = framesOf(responseOf(1, after), log).filter(({ isReceived }) => isReceived !== true)
        expect(rest).toEqual(frames.slice(after + 1))
      }),
      { numRuns },
    )
  })

  it('say every text of the run once, over all responses', () => {
    fc.assert(
      fc.property(runScript, (log) => {
        const texts = Array.from({ length: segmentsIn(log) }, (_, index) => {
          const projector = responseOf(index + 1)
          framesOf(projector, log)
          return (projector.response() as { output_text: string } | undefined)?.output_text ?? ''
        })
        const expected = textsOf(log).join('')
        expect(texts.join('')).toBe(expected)
      }),
      { numRuns },
    )
  })
})

it('shows text that starts again as another item', async () => {
  const text = (delta: string) => ['text.delta', { messageId: 'a', delta }] as const
  const start = ['text.start', { messageId: 'a' }] as const
  const end = ['run.completed', { status: 'completed' }] as const
  const log = logOf([['run.started', { status: 'running' }], start, text('one'), start, text('two'), end])
  const frames = framesOf(responseOf(), log)
  expect(await ResponseStream.fromReadableStream(toStream(frames)).finalResponse()).toMatchObject({
    output_text: 'two',
  })

  const repeated = createRepeatedCompletion({ ...VIEW, segment: 1, isStreamed: true, hasUsage: false })
  for (const event of log) repeated.next(event)
  const chunks = toStream(repeated.opening('all'))
  expect(await ChatCompletionStream.fromReadableStream(chunks).finalContent()).toBe('two')
})

it('ends an item that a crash withdraws as incomplete', async () => {
  const log = logOf([
    ['run.started', { status: 'running', attempt: 1 }],
    ['step.start', { seq: 1, step: 'prepare', kind: 'step' }],
    ['step.end', { seq: 1, step: 'prepare', kind: 'step' }],
    ['text.delta', { delta: 'one' }],
    ['run.queued', { status: 'queued', attempt: 2, reason: 'recovered' }],
    ['run.started', { status: 'running', attempt: 2 }],
    ['run.rewound', { attempt: 2, after: 'e.3' }],
    ['text.delta', { delta: 'two' }],
    ['run.completed', { status: 'completed' }],
  ])
  const frames = framesOf(responseOf(), log)
  const done = dataOf(frames).flatMap((event) =>
    event.type === 'response.output_item.done' ? [(event as unknown as { item: { status: string } }).item.status] : [],
  )

  expect(done).toEqual(['incomplete', 'completed'])
  expect(await ResponseStream.fromReadableStream(toStream(frames)).finalResponse()).toMatchObject({
    output_text: 'two',
  })
})

describe('the chunks of a completion', () => {
  it('are accepted by the official client, whatever the log holds', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(anyLog, runScript), async (log) => {
        for (let segment = 1; segment <= segmentsIn(log); segment++) {
          const projector = completionOf(segment)
          const frames = framesOf(projector, log)
          if (!projector.isOver()) continue
          const completion = projector.completion()
          const stream = ChatCompletionStream.fromReadableStream(toStream(frames))
          if (completion === undefined || 'failure' in completion) {
            await expect(stream.finalChatCompletion()).rejects.toThrow(APIError)
            continue
          }
          const shown = completion.completion as { choices: [{ message: { content: string | null } }] }
          expect((await stream.finalChatCompletion()).choices[0]?.message.content ?? '').toBe(
            shown.choices[0].message.content ?? '',
          )
        }
      }),
      { numRuns },
    )
  })

  it('begin again with the first one for a client that repeats its request after any event', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(anyLog, runScript), fc.nat({ max: 40 }), async (log, after) => {
        for (let segment = 1; segment <= segmentsIn(log); segment++) {
          const first = completionOf(segment)
          const whole = framesOf(first, log)
          const repeated = createRepeatedCompletion({ ...VIEW, segment, isStreamed: true, hasUsage: true })
          for (const event of log.slice(0, after)) repeated.next(event)
          const frames = [...repeated.opening('all'), ...framesOf(repeated, log.slice(after))]
          if (!first.hasRestarted()) expect(frames).toEqual(whole)
          if (!repeated.isOver() || repeated.hasRestarted()) continue
          const completion = repeated.completion()
          if (completion === undefined || 'failure' in completion) continue
          const shown = completion.completion as { choices: [{ message: { content: string | null } }] }
          const stream = ChatCompletionStream.fromReadableStream(toStream(frames))
          expect((await stream.finalChatCompletion()).choices[0]?.message.content ?? '').toBe(
            shown.choices[0].message.content ?? '',
          )
        }
      }),
      { numRuns },
    )
  })

  it('say what the answer says as a whole', () => {
    fc.assert(
      fc.property(runScript, (log) => {
        for (let segment = 1; segment <= segmentsIn(log); segment++) {
          const [streamed, whole] = [completionOf(segment), completionOf(segment, false)]
          framesOf(streamed, log)
          framesOf(whole, log)
          expect(streamed.completion()).toEqual(whole.completion())
        }
      }),
      { numRuns },
    )
  })
})
