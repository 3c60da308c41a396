import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { openCuttingProxy } from '../cutting-proxy.ts'
import { type DurableServer, eventually, startDurableServer } from '../durable-server.ts'
import { createToken } from '../perdure-process.ts'
import { unusedPort } from '../unused-port.ts'
import { type Answered, CLIENTS, type ClientOptions, connect, type Elicited } from './mcp-clients.ts'

const CONFIG = join(import.meta.dirname, '../fixtures/mcp.config.mjs')

let server: DurableServer
let kill = () => {}
beforeAll(async () => {
  server = await startDurableServer(CONFIG, { E2E_PORT: String(await unusedPort()) }, (end) => {
    kill = end
  })
})
afterAll(() => kill())

const optionsOf = (more: Partial<ClientOptions> = {}): ClientOptions => ({
  ...{ url: `${server.url()}/mcp`, token: server.token },
  ...more,
})

const openGate = (name: string) => appendFileSync(String(server.sandbox.env.E2E_LEDGER), `gate ${name}\n`)

let gates = 0
/** A name for a run of `gated`, which waits until its gate is opened. */
const newGate = () => `g${++gates}.`

const approve = (): Answered => ({ action: 'accept', content: { approved: true } })

describe.each(CLIENTS)('the MCP client %s', (name) => {
  it('lists agents and workflows as tools with the schemas of their inputs', async () => {
    const client = await connect(name, optionsOf())
    const tools = await client.tools()

    expect(tools.map((tool) => tool.name)).toEqual([
      ...['adder', 'approver', 'asker', 'double', 'failer', 'gated', 'parent'],
      ...['perdure_approvals', 'perdure_run_cancel', 'perdure_run_wait', 'shouter', 'talker'],
    ])
    expect(tools.find((tool) => tool.name === 'adder')).toMatchObject({
      description: 'The agent adder.',
      inputSchema: { type: 'object', required: ['a', 'b'] },
      annotations: { destructiveHint: false },
    })
    expect(tools.find((tool) => tool.name === 'shouter')).toMatchObject({ inputSchema: { required: ['text'] } })
  })

  it('gets the text that an agent streams, and the progress of its run', async () => {
    const client = await connect(name, optionsOf())
    const progress: string[] = []
    const { content, _meta } = await client.call(
      'talker',
      { text: 't' },
      { onprogress: ({ message }) => progress.push(String(message)) },
    )

    expect(content).toEqual([{ type: 'text', text: Array.from({ length: 20 }, (_, n) => `t${n + 1} `).join('') }])
    expect(_meta).toMatchObject({ 'perdure/runId': expect.stringMatching(/^run_/) })
    expect(progress[0]).toBe('writing')
  })

  it('gets the results of agents and workflows', async () => {
    const client = await connect(name, optionsOf())

    expect(await client.call('adder', { a: 2, b: 3 })).toMatchObject({ structuredContent: { sum: 5 } })
    expect(await client.call('double', { n: 4 })).toMatchObject({ structuredContent: { doubled: 8 } })
    expect(await client.call('shouter', { text: 'hi' })).toMatchObject({ content: [{ type: 'text', text: 'HI' }] })
  })

  it('gets failures and invalid arguments as results that a model can read', async () => {
    const client = await connect(name, optionsOf())
    const failed = await client.call('failer')
    const invalid = await client.call('adder', { a: 'two' })

    expect(failed).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('An error occurred (run run_') }],
    })
    expect(invalid).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('(invalid-input)') }] })
    await expect(client.call('no-such-tool')).rejects.toThrow('unknown tool no-such-tool')
  })

  it('asks its user for a decision, also one of a child run', async () => {
    const asked: Elicited[] = []
    const elicit = (one: Elicited) => {
      asked.push(one)
      return approve()
    }
    const client = await connect(name, optionsOf({ elicit }))

    expect(await client.call('approver')).toMatchObject({ content: [{ text: 'I need a decision.' }] })
    expect(await client.call('parent')).toMatchObject({ content: [{ text: 'my colleague says: refunded' }] })
    expect(asked).toHaveLength(2)
    expect(asked[0]).toMatchObject({ message: expect.stringContaining('Refund 40 EUR?') })
  })

  it('denies by a refusal, also an accepted form without the answer', async () => {
    const answers: Answered[] = [
      { action: 'decline' },
      { action: 'accept', content: { approved: false, reason: 'too much' } },
    ]
    const client = await connect(name, optionsOf({ elicit: () => answers.shift() ?? approve() }))

    expect(await client.call('parent')).toMatchObject({ content: [{ text: 'my colleague says: refused: no reason' }] })
    expect(await client.call('parent')).toMatchObject({ content: [{ text: 'my colleague says: refused: too much' }] })
  })

  it('gets the id of the run when its user does not decide, and the result once somebody has decided', async () => {
    const client = await connect(name, optionsOf({ elicit: () => ({ action: 'cancel' }) }))
    const { structuredContent } = await client.call('approver')
    const { runId, approvals } = structuredContent as { runId: string; approvals: { approvalId: string }[] }
    expect(structuredContent).toMatchObject({ status: 'suspended', approvals: [{ title: 'Refund 40 EUR?' }] })

    const waiting = client.call('perdure_run_wait', { runId })
    await server.resolve(approvals[0]?.approvalId ?? '', true)
    await waiting
    expect(await client.call('perdure_run_wait', { runId })).toMatchObject({
      content: [{ text: 'I need a decision.' }],
    })
    expect((await server.run(runId)).result).toBe('refunded')
  })

  it('passes an answer of its user to a run that has paused', async () => {
    const asked: Elicited[] = []
    const elicit = (one: Elicited): Answered => {
      asked.push(one)
      return { action: 'accept', content: { text: 'Bern' } }
    }
    const client = await connect(name, optionsOf({ elicit }))
    const { _meta } = await client.call('asker')

    expect(asked).toMatchObject([{ message: 'Which city?' }])
    expect((await server.run(String(_meta?.['perdure/runId']))).result).toBe('You said Bern.')
  })

  it('gets the id of a run that takes long, and its result by waiting for it', async () => {
    const client = await connect(name, optionsOf())
    const gate = newGate()
    const { structuredContent, content } = await client.call('gated', { text: gate })
    const runId = String(structuredContent?.runId)
    expect(content[0]?.text).toContain(`Call perdure_run_wait with runId ${runId}`)
    expect(await client.call('perdure_run_wait', { runId, waitMs: 0 })).toMatchObject({
      structuredContent: { status: 'running' },
    })

    openGate(gate)
    expect(await client.call('perdure_run_wait', { runId })).toMatchObject({ content: [{ text: 'Before. ' }] })
  })

  it('aborts a run', async () => {
    const client = await connect(name, optionsOf())
    const { structuredContent } = await client.call('gated', { text: newGate() })
    const runId = String(structuredContent?.runId)

    expect(await client.call('perdure_run_cancel', { runId })).toMatchObject({
      structuredContent: { status: 'aborted' },
    })
    expect(await client.call('perdure_run_wait', { runId })).toMatchObject({ isError: true })
  })

  it('sees and calls only the tools of its scopes, and waits only for its own runs', async () => {
    const token = await createToken(server.sandbox, 'agents:invoke:adder', 'somebody-else')
    const [client, owner] = [await connect(name, optionsOf({ token })), await connect(name, optionsOf())]
    const { structuredContent } = await owner.call('gated', { text: newGate() })
    const runId = String(structuredContent?.runId)

    const names = (await client.tools()).map((tool) => tool.name).filter((one) => !one.startsWith('perdure_'))
    expect(names).toEqual(['adder'])
    await expect(client.call('talker', { text: 't' })).rejects.toThrow('unknown tool talker')
    await expect(client.call('perdure_run_wait', { runId })).rejects.toThrow('no such run')
    await expect(client.call('perdure_run_cancel', { runId })).rejects.toThrow('no such run')
    await owner.call('perdure_run_cancel', { runId })
  })
})

/** Clients without a handshake do not resume: the protocol has nothing for it. */
describe.each(CLIENTS.filter((name) => name !== '2.4.0 auto'))('the MCP client %s resumes, and', (name) => {
  it('gets the result over a network that cuts its connections', async () => {
    let connectionMs = 5_000 // time for the handshake, which the client does not repeat
    const proxy = await openCuttingProxy(() => connectionMs)
    proxy.target = Number(new URL(server.url()).port)
    onTestFinished(() => proxy.close())
    const url = `http://127.0.0.1:${proxy.port}/v1/mcp`
    const client = await connect(name, optionsOf({ url }))
    connectionMs = 1_500 // time for the head of the answer, without which the client cannot resume
    const gate = newGate()
    const called = client.call('gated', { text: gate }, { onprogress: () => undefined })
    await eventually(() => proxy.cuts()).toBeGreaterThan(0)
    openGate(gate)

    expect(await called).toMatchObject({ content: [{ text: 'Before. ' }] })
  })

  it('gets the result and is asked across a crash of the server', async () => {
    const gate = newGate()
    let answer: (answered: Answered) => void = () => undefined
    const client = await connect(
      name,
      optionsOf({
        elicit: () =>
          new Promise((resolve) => {
            answer = resolve
          }),
      }),
    )
    const asked = client.call('approver', {}, { onprogress: () => undefined })
    const running = client.call('gated', { text: gate }, { onprogress: () => undefined })
    await eventually(() => server.ledger()).toContain(`began ${gate}`)
    await eventually(async () => (await server.itemsOf('/approvals?status=pending')).length).toBeGreaterThan(0)

    await server.restart()
    answer(approve())
    openGate(gate)

    expect(await running).toMatchObject({ content: [{ text: 'Before. ' }] })
    expect(await asked).toMatchObject({ content: [{ text: 'I need a decision.' }] })
  })

  it('is asked again when its answer was lost in a crash of the server', async () => {
    let asked = 0
    let restarted: Promise<void> = Promise.resolve()
    const elicit = async () => {
      asked += 1
      if (asked > 1) return approve()
      await server.kill('SIGKILL')
      setTimeout(() => {
        restarted = server.start()
      }, 300)
      return approve()
    }
    const client = await connect(name, optionsOf({ elicit }))

    expect(await client.call('approver', {}, { onprogress: () => undefined, timeout: 30_000 })).toMatchObject({
      content: [{ text: 'I need a decision.' }],
    })
    expect(asked).toBe(2)
    await restarted
  })
})
