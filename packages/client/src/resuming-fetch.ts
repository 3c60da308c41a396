import { type Pace, pause, realPace } from './pace.ts'
import { type Backoff, backoffMs, isFinalStatus, retryAfterMs } from './retry-policy.ts'
import { readSseBlocks, type SseBlock } from './sse-blocks.ts'

export type Fetch<Input = string> = (input: Input, init: RequestInit) => Promise<Response>

/** How a protocol ends its streams. */
export interface StreamEnd {
  /** Whether this is the data of the last block. */
  isLast(data: string): boolean
  /** The data of the blocks that report a stream which cannot be continued. */
  lost(message: string): readonly string[]
}

export interface ResumeOptions {
  /** How long to try to reach the server again. Default: 60,000 milliseconds. */
  readonly giveUpAfterMs?: number | undefined
  /** How long a connection may be silent; the server sends a heartbeat every 5 seconds. Default: 20,000 milliseconds. */
  readonly silenceMs?: number | undefined
}

/** With the waits of a test. */
interface PacedOptions extends ResumeOptions {
  readonly pace?: Pace
}

const BACKOFF: Backoff = { baseMs: 250, maxMs: 5_000 }

/**
 * A `fetch` whose event streams survive lost connections and restarts of the server: the request is repeated with the id
 * of the last received block, and the response continues with the block after it. The requests must be safe to repeat.
 */
export function resumingFetch<Input>(send: Fetch<Input>, end: StreamEnd, options: PacedOptions = {}): Fetch<Input> {
  return async (input, init) => {
    const connection = createConnection((headers) => send(input, { ...init, headers }), init, options)
    const first = await connection.open()
    const isStream = first.headers.get('content-type')?.startsWith('text/event-stream') ?? false
    if (!first.ok || !isStream) return first
    return new Response(toStream(followedFrom(connection, first, end)), {
      status: first.status,
      headers: first.headers,
    })
  }
}

interface Connection {
  /**
   * Sends the request until the server answers it, or refuses it for good. Later calls ask for the events after the last
   * block.
   */
  open(): Promise<Response>
  /** The blocks of a response until it ends, breaks or falls silent. */
  blocks(response: Response): AsyncGenerator<Block, void, void>
}

type Block = Exclude<SseBlock, { readonly retryMs: number }>

function createConnection(
  send: (headers: Headers) => Promise<Response>,
  init: Pick<RequestInit, 'signal' | 'headers'>,
  { giveUpAfterMs = 60_000, silenceMs = 20_000, pace = realPace }: PacedOptions,
): Connection {
  const signal = init.signal ?? new AbortController().signal
  const headers = new Headers(init.headers)
  let giveUpAt = pace.now() + giveUpAfterMs
  let tries = 0

  /** Waits longer after each try that brought nothing. */
  const wait = async (answer?: Response) => {
    const askedMs = retryAfterMs(answer?.headers.get('retry-after') ?? null, pace.now()) ?? 0
    await pause(pace, askedMs + backoffMs(BACKOFF, tries, pace.random()), signal)
    tries += 1
  }

  const tryOnce = async (): Promise<Response | undefined> => {
    const isLast = () => signal.aborted || pace.now() >= giveUpAt
    try {
      const answer = await send(headers)
      if (answer.ok || !isRetried(answer.status) || isLast()) return answer
      await wait(answer)
    } catch (error) {
      if (isLast()) throw error
      await wait()
    }
    return undefined
  }

  return {
    async open() {
      if (headers.has('Last-Event-ID')) await wait()
      for (;;) {
        const answer = await tryOnce()
        if (answer !== undefined) return answer
      }
    },
    async *blocks({ body }) {
      if (body === null) return
      const silence = createSilence(pace, silenceMs)
      const ended = AbortSignal.any([signal, silence.signal])
      try {
        for await (const block of readSseBlocks(body, { onBytes: silence.restart, signal: ended })) {
          if ('retryMs' in block) continue
          if (block.id !== undefined) headers.set('Last-Event-ID', block.id)
          giveUpAt = pace.now() + giveUpAfterMs
          tries = 0
          yield block
        }
      } catch {
        signal.throwIfAborted()
      } finally {
        silence.stop()
      }
    },
  }
}

/** A signal that aborts when `restart` is not called for some time. */
function createSilence(pace: Pace, silenceMs: number) {
  const silence = new AbortController()
  const begin = () => pace.after(silenceMs, () => silence.abort())
  let stop = begin()
  return {
    signal: silence.signal,
    restart() {
      stop()
      stop = begin()
    },
    stop: () => stop(),
  }
}

const isRetried = (status: number): boolean => status !== 409 && status !== 413 && !isFinalStatus(status)

async function* followedFrom(
  connection: Connection,
  first: Response,
  end: StreamEnd,
): AsyncGenerator<string, void, void> {
  let response = first
  while (response.ok && response.status !== 204) {
    for await (const block of connection.blocks(response)) {
      yield toText(block)
      if (end.isLast(block.data)) return
    }
    response = await connection.open()
  }
  const blocks = end.lost(`the stream cannot be continued: the server answered ${response.status}`)
  yield blocks.map((data) => toText({ data })).join('')
}

const toText = ({ id, data }: { readonly id?: string | undefined; readonly data: string }): string =>
  `${id === undefined ? '' : `id: ${id}\n`}data: ${data}\n\n`

function toStream(texts: AsyncGenerator<string, void, void>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await texts.next()
      if (done === true) controller.close()
      else controller.enqueue(encoder.encode(value))
    },
    async cancel() {
      await texts.return()
    },
  })
}
