import { defineAgent } from '@perdure/core'
import { describe, expect, it } from 'vitest'
import { startedServer } from '../embedding/embedded-server.fixture.ts'
import { PROTOCOL_READS, type Read } from './protocol-reads.fixture.ts'

const agent = defineAgent({
  id: 'failing',
  budget: { costUsd: 1, onExceeded: 'ask' },
  async run(_, ctx) {
    await ctx.step('one', () => ctx.usage({ provider: 'p', model: 'm', costUsd: 1.5 }))
    return ctx.step('two', () => 'the whole answer')
  },
})

interface Approval {
  readonly id: string
  readonly name: string
}

async function serve() {
  const server = await startedServer({ agents: [agent] })
  const open = ([method, path, body, headers = {}]: Read): Promise<Response> =>
    server.fetch(
      new Request(`http://localhost/v1${path}`, {
        method,
        headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    )
  const pending = async (): Promise<readonly Approval[]> =>
    ((await (await open(['GET', '/approvals?status=pending'])).json()) as { readonly items: readonly Approval[] }).items
  const decide = async (approved: boolean) => {
    await expect.poll(pending).toHaveLength(1)
    const [approval] = await pending()
    await open(['POST', `/approvals/${approval?.id}/resolve`, { approved }])
    return approval
  }
  return { open, decide }
}

/** The operations that start a run and answer with it. */
const STARTING = [
  'ai-sdk.send',
  'ag-ui.run',
  'openai.chat-completion',
  'openai.create-response',
  'mcp-server.send',
] as const

describe('a run that asks to go on beyond its budget', () => {
  it.each(STARTING)('works, for a client of %s, until somebody else has approved', async (id) => {
    const { open, decide } = await serve()
    const answering = open(PROTOCOL_READS[id].start).then((response) => response.text())
    const approval = await decide(true)
    const answer = await answering

    expect(approval?.name).toBe('perdure:budget')
    expect(answer).toContain('the whole answer')
    expect(answer).not.toMatch(/perdure:budget|budget|usd|apr_/i)
  })

  it.each(STARTING)('has failed, for a client of %s, once somebody has denied', async (id) => {
    const { open, decide } = await serve()
    const answering = open(PROTOCOL_READS[id].start).then((response) => response.text())
    await decide(false)

    expect(await answering).not.toMatch(/whole answer|perdure:budget|denied|usd|apr_/i)
  })
})
