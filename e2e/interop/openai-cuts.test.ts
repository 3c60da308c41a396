import { describe, expect, it } from 'vitest'
import { serveForFile } from './openai-client.ts'

const server = serveForFile()

interface Frame {
  readonly id: string
  readonly event: string | undefined
  readonly data: string
}

const fieldOf = (block: string, name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1]

const framesIn = (text: string): readonly Frame[] =>
  text.split('\n\n').flatMap((block) => {
    const data = fieldOf(block, 'data')
    return data === undefined ? [] : [{ id: fieldOf(block, 'id') ?? '', event: fieldOf(block, 'event'), data }]
  })

async function request(path: string, { body, headers = {} }: { body?: object; headers?: Record<string, string> } = {}) {
  const response = await fetch(`${server().url()}/openai${path}`, {
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    headers: { authorization: `Bearer ${server().token}`, 'content-type': 'application/json', ...headers },
  })
  if (response.status !== 200) throw new Error(await response.text())
  return response
}

const framesOf = async (response: Response) => framesIn(await response.text())

/** Reads as many frames of the response, and then disconnects; `undefined` if it has fewer. */
async function cutAfter(response: Response, count: number): Promise<readonly Frame[] | undefined> {
  const decoder = new TextDecoder()
  let text = ''
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  for (let step = await reader.read(); !step.done; step = await reader.read()) {
    text += decoder.decode(step.value, { stream: true })
    const frames = framesIn(text.slice(0, text.lastIndexOf('\n\n') + 2))
    if (frames.length < count) continue
    await reader.cancel()
    return frames.slice(0, count)
  }
  return undefined
}

const MESSAGES = [{ role: 'user', content: 'x' }]
const startResponse = (model: string) =>
  request('/responses', { body: { model, input: 'x', stream: true, tools: TOOLS } })
const startChat = (model: string, key: string, headers: Record<string, string> = {}) =>
  request('/chat/completions', {
    body: { model, messages: MESSAGES, stream: true, stream_options: { include_usage: true }, tools: TOOLS },
    headers: { 'idempotency-key': key, ...headers },
  })

const TOOLS = [{ type: 'function', name: 'pickColor', function: { name: 'pickColor' }, parameters: {}, strict: false }]

const responseIdIn = ([first]: readonly Frame[]): string => JSON.parse(first?.data ?? '').response.id

/** Every agent of the bench whose run ends, or rests, without a kill or another request. */
const AGENTS = [
  ...['talker', 'tooler', 'asker', 'approver', 'suspender', 'sleeper', 'failer', 'parent', 'busyparent', 'stateful'],
  ...['plain', 'returner', 'picker', 'painter', 'silentpicker', 'narrator', 'teller-suspended'],
]

describe.each(AGENTS)('a reader of %s that was cut off after any event', (model) => {
  it('of a Response gets exactly the events after it', async () => {
    const whole = await framesOf(await startResponse(model))
    const path = `/responses/${responseIdIn(whole)}?stream=true`
    expect(whole.length).toBeGreaterThan(2)
    expect(whole.map(({ data }) => JSON.parse(data).sequence_number)).toEqual(whole.map((_, index) => index))
    const rests = await Promise.all(
      whole.map(async ({ id }, k) => ({
        byNumber: await framesOf(await request(`${path}&starting_after=${k}`)),
        byFrame: await framesOf(await request(path, { headers: { 'last-event-id': id } })),
      })),
    )
    for (const [k, { byNumber, byFrame }] of rests.entries()) {
      expect(byNumber, `cut after ${k}`).toEqual(whole.slice(k + 1))
      expect(byFrame, `cut after ${k}`).toEqual(whole.slice(k + 1))
    }
  })

  it('of a Chat Completion gets the same chunks for its key, or exactly the chunks after it', async () => {
    const key = `cuts-${model}`
    const whole = await framesOf(await startChat(model, key))
    const repeated = await framesOf(await startChat(model, key))
    expect(repeated.map(({ data }) => data)).toEqual(whole.map(({ data }) => data))
    const rests = await Promise.all(
      whole.map(async ({ id }) => framesOf(await startChat(model, key, { 'last-event-id': id }))),
    )
    for (const [k, rest] of rests.entries()) expect(rest, `cut after ${k}`).toEqual(whole.slice(k + 1))
  })
})

describe('a reader that disconnects while the run executes, after any event', () => {
  it('of a Response continues with the next one', async () => {
    const { length } = await framesOf(await startResponse('narrator'))
    await Promise.all(
      Array.from({ length }, async (_, k) => {
        const head = await cutAfter(await startResponse('narrator'), k + 1)
        const path = `/responses/${responseIdIn(head ?? [])}?stream=true`
        const rest = await framesOf(await request(`${path}&starting_after=${k}`))
        expect([...(head ?? []), ...rest], `cut after ${k}`).toEqual(await framesOf(await request(path)))
        expect(JSON.parse(rest.at(-1)?.data ?? '{}').type).toBe(k + 1 < length ? 'response.completed' : undefined)
      }),
    )
    expect(length).toBeGreaterThan(30)
  })

  it('of a Chat Completion gets it from the first chunk', async () => {
    const { length } = await framesOf(await startChat('narrator', 'live'))
    await Promise.all(
      Array.from({ length }, async (_, k) => {
        const head = (await cutAfter(await startChat('narrator', `live-${k}`), k + 1)) ?? []
        const again = (await framesOf(await startChat('narrator', `live-${k}`))).map(({ data }) => data)
        expect(again.slice(0, k + 1), `cut after ${k}`).toEqual(head.map(({ data }) => data))
        expect(again.length).toBe(length)
        expect(again.at(-1)).toBe('[DONE]')
      }),
    )
    expect(length).toBeGreaterThan(10)
  })
})
