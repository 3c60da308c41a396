import { defineAgent } from '@perdure/core'
import { describe, expect, it } from 'vitest'
import { startedServer } from '../embedding/embedded-server.fixture.ts'
import { PROTOCOL_READS, type Read } from './protocol-reads.fixture.ts'

const agent = defineAgent({
  id: 'failing',
  async run(_, ctx) {
    await ctx.usage({ provider: 'openai', model: 'small', inputTokens: 3_000_000 })
    return 'paid'
  },
})

/** The costs of the run, however they are written. */
const COST = /usd|cost|(?<![:\d])4\.5(?![1-9])/i

async function serve() {
  const prices = { small: { inputUsdPerMillion: 1.5, outputUsdPerMillion: 1 } }
  const server = await startedServer({ agents: [agent], config: { auth: { kind: 'none' }, models: { prices } } })
  return async ([method, path, body, headers = {}]: Read): Promise<string> => {
    const response = await server.fetch(
      new Request(`http://localhost/v1${path}`, {
        method,
        headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    )
    return response.text()
  }
}

describe('the cost of a run', () => {
  it.each(Object.entries(PROTOCOL_READS).filter(([, { reads }]) => reads.length > 0))(
    'is not shown by %s',
    async (_, { start, reads }) => {
      const send = await serve()
      const started = await send(start)
      const { items } = JSON.parse(await send(['GET', '/runs'])) as { readonly items: { readonly id: string }[] }
      const answers = [started]
      for (const read of reads) answers.push(await send(read({ runId: items[0]?.id ?? '', started })))

      for (const answer of answers) expect(answer).not.toMatch(COST)
      expect(answers.join()).toMatch(/paid|completed/)
    },
  )

  it('is shown to those who may read the run', async () => {
    const send = await serve()
    await send(PROTOCOL_READS['ai-sdk.send'].start)

    expect(JSON.parse(await send(['GET', '/runs'])).items[0].usage).toMatchObject({ costUsd: 4.5 })
  })
})
