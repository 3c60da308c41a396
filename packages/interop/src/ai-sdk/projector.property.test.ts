import type { LogEvent } from '@perdure/core'
import * as ai7 from 'ai'
import * as ai6 from 'ai6'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Frame } from '../projection.ts'
import { anyLog, RUN } from '../run-logs/events.fixture.ts'
import { runScript } from '../run-logs/run-script.fixture.ts'
import type { AiSdkVersion, Chunk } from './chunk.ts'
import { createAiSdkProjector } from './projector.ts'

const VIEW = { runId: RUN, agentId: 'mail' }

const chunksOf = (frames: readonly Frame[]): readonly Chunk[] =>
  frames.filter(({ data }) => data !== '[DONE]').map(({ data }) => JSON.parse(data))

/** Reads the chunks as the client does. Throws what the client throws. */
async function messageOf(version: AiSdkVersion, chunks: readonly Chunk[]) {
  const { readUIMessageStream } = (version === 6 ? ai6 : ai7) as typeof ai7
  const stream = new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk as ai7.UIMessageChunk)
      controller.close()
    },
  })
  const errors: unknown[] = []
  const onError = (error: unknown) => void errors.push(error)
  let message: ai7.UIMessage | undefined
  for await (const next of readUIMessageStream({ stream, onError })) message = next
  // The message of a run that failed.
  for (const error of errors) if (String(error) !== 'Error: no') throw error
  return message
}

function uncut(version: AiSdkVersion, log: readonly LogEvent[]): readonly Frame[] {
  const projector = createAiSdkProjector(VIEW, version)
  return [...projector.opening('rest'), ...log.flatMap((event) => projector.next(event))]
}

/** What a client gets that joins after `k` events. */
function joined(version: AiSdkVersion, log: readonly LogEvent[], k: number): readonly Frame[] {
  const projector = createAiSdkProjector(VIEW, version)
  for (const event of log.slice(0, k)) projector.next(event)
  return [...projector.opening('all'), ...log.slice(k).flatMap((event) => projector.next(event))]
}

const RUNS = 1_000

describe.each([6, 7] as const)('the stream for version %i of the AI SDK', (version) => {
  it('consists of chunks that the client accepts', async () => {
    const schema = await (version === 6 ? ai6 : ai7).uiMessageChunkSchema()
    await fc.assert(
      fc.asyncProperty(anyLog, async (log) => {
        for (const chunk of chunksOf(uncut(version, log))) {
          expect(await schema.validate?.(chunk), JSON.stringify(chunk)).toMatchObject({ success: true })
        }
      }),
      { numRuns: RUNS },
    )
  })

  it('is read by the client without an error', async () => {
    await fc.assert(
      fc.asyncProperty(anyLog, async (log) => {
        await messageOf(version, chunksOf(uncut(version, log)))
      }),
      { numRuns: RUNS },
    )
  })

  it('shows a client that joins later the same message', async () => {
    await fc.assert(
      fc.asyncProperty(runScript, fc.nat({ max: 60 }), async (log, k) => {
        const whole = await messageOf(version, chunksOf(uncut(version, log)))
        expect(await messageOf(version, chunksOf(joined(version, log, k)))).toEqual(whole)
      }),
      { numRuns: RUNS },
    )
  })
})
