import { describe, expect, it } from 'vitest'
import { createChatFetch } from './create-chat-fetch.ts'
import { type Fetch, resumingFetch, type StreamEnd } from './resuming-fetch.ts'

const frame = (n: number, type = 'TEXT_MESSAGE_CONTENT') => `id: e.${n}/0\ndata: {"type":"${type}","n":${n}}\n\n`
const WHOLE = [...Array.from({ length: 6 }, (_, n) => frame(n)), frame(6, 'RUN_FINISHED')]

const END: StreamEnd = {
  isLast: (data) => data.includes('RUN_FINISHED'),
  lost: (message) => [JSON.stringify({ lost: message })],
}

const INSTANT = {
  now: () => 0,
  random: () => 0,
  after: (ms: number, fn: () => void) => (ms === 0 ? run(fn) : () => {}),
}
const run = (fn: () => void) => {
  queueMicrotask(fn)
  return () => {}
}

/** A server that ends each response after some bytes. */
function server(lengths: readonly (number | 'refused' | number[])[]) {
  const cursors: (string | null)[] = []
  const send: Fetch = async (_, init) => {
    const length = lengths[cursors.length] ?? Number.POSITIVE_INFINITY
    const cursor = new Headers(init.headers).get('last-event-id')
    cursors.push(cursor)
    if (length === 'refused') throw new TypeError('fetch failed')
    if (Array.isArray(length)) return new Response(null, { status: length[0] ?? 500 })
    const from = cursor === null ? 0 : WHOLE.findIndex((block) => block.includes(cursor)) + 1
    const bytes = new TextEncoder().encode(WHOLE.slice(from).join('')).slice(0, length)
    return new Response(bytes, { headers: { 'content-type': 'text/event-stream' } })
  }
  return { cursors, fetch: resumingFetch(send, END, { pace: INSTANT }) }
}

const read = async ({ fetch }: ReturnType<typeof server>) =>
  (await fetch('http://x', { method: 'POST', body: '{}' })).text()

describe('resumingFetch', () => {
  it('continues a response that was cut at any byte, without a hole and without a repetition', async () => {
    for (let at = 0; at <= WHOLE.join('').length; at++) {
      const cut = server([at, at])
      expect(await read(cut), `cut after ${at} bytes`).toBe(WHOLE.join(''))
    }
  })

  it('repeats a request that the server did not receive, or could not take', async () => {
    const down = server(['refused', [503], 60, 'refused', [502]])
    expect(await read(down)).toBe(WHOLE.join(''))
    expect(down.cursors).toEqual([null, null, null, 'e.0/0', 'e.0/0', 'e.0/0'])
  })

  it('returns a refusal, and ends a stream that cannot be continued', async () => {
    const { fetch } = server([[403]])
    expect((await fetch('http://x', {})).status).toBe(403)
    expect(await read(server([60, [404]]))).toMatch(/\{"lost":"[^"]+ answered 404"\}\n\n$/)
    expect(await read(server([60, [204]]))).toMatch(/\{"lost":"[^"]+ answered 204"\}\n\n$/)
  })

  it('asks for nothing after the last event', async () => {
    const whole = server([])
    await read(whole)
    expect(whole.cursors).toEqual([null])
  })
})

describe('createChatFetch', () => {
  const CHUNKS = ['{"type":"start"}', '{"type":"text-delta","delta":"Hi"}', '[DONE]']
  const BLOCKS = CHUNKS.map((data, n) => `id: e.1/${n}\ndata: ${data}\n\n`)

  /** A server that sends `lengths[n]` blocks in the n-th response. */
  function chatServer(lengths: readonly number[]) {
    const sent: { readonly key: string | null; readonly cursor: string | null }[] = []
    const send: typeof fetch = async (_, init) => {
      const headers = new Headers(init?.headers)
      const cursor = headers.get('last-event-id')
      const from = cursor === null ? 0 : Number(cursor.slice(-1)) + 1
      const blocks = BLOCKS.slice(from, from + (lengths[sent.length] ?? 0))
      sent.push({ key: headers.get('idempotency-key'), cursor })
      return new Response(blocks.join(''), { headers: { 'content-type': 'text/event-stream' } })
    }
    return { sent, fetch: createChatFetch({ fetch: send }) }
  }

  it('continues an answer until it is done, and repeats a message under one key', async () => {
    const { sent, fetch } = chatServer([1, 1, 1])

    expect(await (await fetch('http://x', { method: 'POST' })).text()).toBe(BLOCKS.join(''))
    expect(sent.map(({ cursor }) => cursor)).toEqual([null, 'e.1/0', 'e.1/1'])
    const [first] = sent
    expect(first?.key).toMatch(/^\S{16,}$/)
    expect(new Set(sent.map(({ key }) => key)).size).toBe(1)
  })

  it('keeps the key of its caller, and reads without one', async () => {
    const { sent, fetch } = chatServer([3, 3])
    await fetch('http://x', { method: 'POST', headers: { 'Idempotency-Key': 'mine' } })
    await fetch('http://x')

    expect(sent.map(({ key }) => key)).toEqual(['mine', null])
  })
})
