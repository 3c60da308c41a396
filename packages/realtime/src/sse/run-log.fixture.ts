import { createEventFeed, createEventHub, createHotCache, createRenderEnvelope, publishing } from '@perdure/core'
import { toResponse } from '@perdure/http'
import { createInMemoryStorage } from '@perdure/in-memory'
import { EVERY_ROW, type EventLog, type Logger, noMeter, toJsonText } from '@perdure/ports'
import { anEvent, aRun, createManualClock, type ManualClock } from '@perdure/testkit'
import { createEventSourceParser, type EventSourceParser } from './event-source.fixture.ts'
import { createEventStreams, type EventStreams, type EventStreamsDeps } from './event-streams.ts'

export const RUN_ID = aRun().id
export const SUBJECT = `agent:echo/runs/${RUN_ID}/events`

const ignore = () => undefined
const silentLogger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }

export const CACHE = { maxEvents: 1_000, ttlMs: 300_000, maxSubjectBytes: 2 ** 21, maxBytes: 2 ** 26 }
export const SOURCE = { stream: { runId: RUN_ID }, subject: SUBJECT, epoch: 'e1' }

/** Creates a run in in-memory storage, functions that append events, and event streams that read them. */
export async function createRunLog(over: Partial<EventStreamsDeps> = {}) {
  const storage = createInMemoryStorage({ epoch: 'e1' })
  const clock: ManualClock = createManualClock()
  const hub = createEventHub(createHotCache(clock, CACHE))
  const unitOfWork = publishing(storage.unitOfWork, { hub })
  await unitOfWork.commit([{ type: 'run.insert', run: aRun({ status: 'running' }) }])
  let count = 0

  const append = async (...types: readonly string[]) => {
    const events = types.map((type) => anEvent({ runId: RUN_ID, type, payload: toJsonText({ n: ++count }) }))
    await unitOfWork.commit([{ type: 'event.append', events }])
  }

  const render = createRenderEnvelope({ meter: noMeter, policy: 'redact' })
  const { events = storage.events } = over
  const feed = createEventFeed({ events, hub, render })
  const opened = createEventStreams({
    yieldTurn: () => new Promise((resolve) => setImmediate(resolve)),
    ...{ runs: storage.runs, sessions: storage.sessions, events, feed, render, timers: clock, logger: silentLogger },
    ...{ maxStreams: 10, maxStreamsPerToken: 10, heartbeatMs: 15_000, projectedHeartbeatMs: 5_000, stallMs: 10_000 },
    watchCredential: () => () => undefined,
    ...over,
  })
  /** As callers of `fetch` get them. */
  const streams = {
    ...opened,
    openRunStream: async (request: Parameters<EventStreams['openRunStream']>[0]) =>
      toResponse(await opened.openRunStream(request)),
    openSessionStream: async (request: Parameters<EventStreams['openSessionStream']>[0]) =>
      toResponse(await opened.openSessionStream(request)),
    openProjectedStream: async (request: Parameters<EventStreams['openProjectedStream']>[0]) =>
      toResponse(await opened.openProjectedStream(request)),
    openJoinedStream: async (request: Parameters<EventStreams['openJoinedStream']>[0]) =>
      toResponse(await opened.openJoinedStream(request)),
    openReplayStream: (...request: Parameters<EventStreams['openReplayStream']>) =>
      toResponse(opened.openReplayStream(...request)),
  }

  return {
    ...{ storage, clock, hub, feed, render, unitOfWork, streams, append },
    /** Appends events of another run, so that the positions of the stream are not consecutive. */
    async appendElsewhere() {
      await unitOfWork.commit([{ type: 'event.append', events: [anEvent({ runId: 'run_other' })] }])
    },
    async complete() {
      const change = { status: 'completed', finishReason: 'completed' } as const
      await unitOfWork.commit([
        { type: 'run.transition', runId: RUN_ID, from: ['running'], attempt: 1, change },
        { type: 'event.append', events: [anEvent({ runId: RUN_ID, type: 'run.completed' })] },
      ])
    },
    open: (lastEventId?: string) => streams.openRunStream({ runId: RUN_ID, visibility: EVERY_ROW, lastEventId }),
  }
}

/** The log after retention has removed everything up to `trimmedThrough`. */
export const trimmed = (log: EventLog, trimmedThrough: number): EventLog => ({
  ...log,
  read: (stream, { after, limit }) => log.read(stream, { after: Math.max(after, trimmedThrough), limit }),
  head: async () => ({ ...(await log.head()), trimmedThrough }),
})

export interface Client extends EventSourceParser {
  /** Reads the next chunk; returns false at the end of the stream. */
  read(): Promise<boolean>
  /** Reads chunks until this many events have arrived in total. */
  readUntil(count: number): Promise<void>
  readToEnd(): Promise<void>
  close(): Promise<void>
}

export function createClient(response: Response, lastEventId?: string): Client {
  if (response.body === null) throw new Error('the response has no body')
  const reader: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader()
  const decoder = new TextDecoder()
  const parser = createEventSourceParser(lastEventId)
  const client: Client = Object.assign(parser, {
    async read() {
      const { done, value } = await reader.read()
      if (!done) parser.feed(decoder.decode(value, { stream: true }))
      return !done
    },
    async readUntil(count: number) {
      while (parser.events.length < count) {
        if (!(await client.read())) throw new Error(`the stream ended after ${parser.events.length} events`)
      }
    },
    async readToEnd() {
      while (await client.read());
    },
    close: () => reader.cancel(),
  })
  return client
}

/** Runs all pending microtasks. */
export const settled = () => new Promise<void>((resolve) => setImmediate(resolve))
