import { describe, expect, it } from 'vitest'
import { type Answer, receive } from './receive.ts'

async function reported(response: Response): Promise<readonly Answer[]> {
  const answers: Answer[] = []
  await receive(response, 5, (answer) => answers.push(answer))
  return answers
}

/** A body that arrives in these parts. */
const bodyOf = (...parts: readonly string[]) =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      for (const part of parts) controller.enqueue(new TextEncoder().encode(part))
      controller.close()
    },
  })

describe('receive', () => {
  it('reports a text as it arrives', async () => {
    const answers = await reported(new Response(bodyOf('one ', 'two'), { headers: { 'x-request-id': 'req_1' } }))

    expect(answers.map(({ text }) => text)).toEqual(['', 'one ', 'one two', 'one two'])
    expect(answers[0]).toMatchObject({ status: 200, isOk: true, tookMs: 5, requestId: 'req_1' })
  })

  it('indents JSON once it is complete, and keeps a text that only claims to be JSON', async () => {
    const headers = { 'content-type': 'application/json' }

    expect((await reported(new Response('{"a":1}', { headers }))).at(-1)?.text).toBe('{\n  "a": 1\n}')
    expect((await reported(new Response('{"a":', { headers }))).at(-1)?.text).toBe('{"a":')
  })

  it('cancels a body that is too long to show', async () => {
    let isCancelled = false
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new TextEncoder().encode('x'.repeat(150_000))),
      cancel() {
        isCancelled = true
      },
    })
    const last = (await reported(new Response(endless))).at(-1)

    expect([last?.text.length, last?.isCut]).toEqual([200_000, true])
    await expect.poll(() => isCancelled).toBe(true)
  })
})
