import { describe, expect, it } from 'vitest'
import { clockAt } from './faked-clock.ts'
import { bearer, createSandbox, createToken, LEDGER_CONFIG, startServer } from './perdure-process.ts'

interface ReceivedEvent {
  readonly id: string
  readonly data: string
}

/** Reads the events of a stream that ends by itself, or only the first ones. */
async function readEvents(response: Response, count = Number.POSITIVE_INFINITY): Promise<readonly ReceivedEvent[]> {
  const received: ReceivedEvent[] = []
  let text = ''
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      const id = /^id: (.*)$/m.exec(block)?.[1]
      const data = /^data: (.+)$/m.exec(block)?.[1]
      if (id !== undefined && data !== undefined) received.push({ id, data })
    }
    if (received.length >= count) break
  }
  return received.slice(0, count)
}

describe('a reader that reconnects a day later', () => {
  it('receives the rest of the run from where it stopped, each event once', async () => {
    const sandbox = createSandbox()
    const token = await createToken(sandbox)
    const args = ['server', '--config', LEDGER_CONFIG]
    const before = await startServer(clockAt(sandbox, '2030-01-01T08:00:00'), args)
    const started = await fetch(`${before.url}/agents/stream/run`, {
      method: 'POST',
      headers: bearer(token),
      body: JSON.stringify({ input: { count: 200 } }),
    })
    const { runId } = (await started.json()) as { readonly runId: string }
    const events = (url: string, headers: Record<string, string> = {}) =>
      fetch(`${url}/runs/${runId}/events`, {
        headers: { ...bearer(token), accept: 'text/event-stream', ...headers },
      })
    const whole = await readEvents(await events(before.url))
    const first = await readEvents(await events(before.url), 60)
    await before.kill('SIGKILL')

    const { url, kill } = await startServer(clockAt(sandbox, '2030-01-02T09:00:00'), args)
    const rest = await readEvents(await events(url, { 'last-event-id': first.at(-1)?.id ?? '' }))
    const over = await events(url, { 'last-event-id': rest.at(-1)?.id ?? '' })
    await kill('SIGTERM')

    expect(whole.length).toBeGreaterThan(200)
    expect([...first, ...rest]).toEqual(whole)
    expect(over.status).toBe(204)
  })
})
