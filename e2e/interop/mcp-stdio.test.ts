import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type DurableServer, eventually, startDurableServer } from '../durable-server.ts'
import { BINARY } from '../perdure-process.ts'
import { unusedPort } from '../unused-port.ts'
import { type Answered, CLIENTS, connect, type Program } from './mcp-clients.ts'

const CONFIG = join(import.meta.dirname, '../fixtures/mcp.config.mjs')

let server: DurableServer
let kill = () => {}
beforeAll(async () => {
  server = await startDurableServer(CONFIG, { E2E_PORT: String(await unusedPort()) }, (end) => {
    kill = end
  })
})
afterAll(() => kill())

const openGate = (name: string) => appendFileSync(String(server.sandbox.env.E2E_LEDGER), `gate ${name}\n`)
const beginnings = (gate: string) => server.ledger().filter((line) => line === `began ${gate}`).length

const ARGS = ['mcp', 'serve', '--stdio']
const environment = (token = server.token) => ({ PERDURE_URL: server.url(), PERDURE_TOKEN: token })

const program = (): Program => ({
  ...{ command: process.execPath, args: [BINARY, ...ARGS], stderr: 'ignore' },
  env: { PATH: String(process.env.PATH), ...environment() },
})

/** The command as a process, with everything that it writes. */
function startBridge(token?: string) {
  const child = spawn(process.execPath, [BINARY, ...ARGS], { env: { ...process.env, ...environment(token) } })
  onTestFinished(() => void child.kill('SIGKILL'))
  let out = ''
  let err = ''
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    out += chunk
  })
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    err += chunk
  })
  const ended = once(child, 'close').then(([code]) => code as number | null)
  return {
    send: (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`),
    messages: () => out.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)])),
    err: () => err,
    ended,
    end: () => child.stdin.end(),
    kill: (signal: NodeJS.Signals) => child.kill(signal),
  }
}

const callOf = (id: number, name: string, text: string) => ({
  ...{ id, method: 'tools/call' },
  params: { name, arguments: { text }, _meta: { progressToken: id } },
})

describe.each(CLIENTS)('the MCP client %s, over stdio,', (name) => {
  it('lists tools, calls them, and asks its user', async () => {
    const elicit = (): Answered => ({ action: 'accept', content: { approved: true } })
    const client = await connect(name, { url: program(), elicit })

    expect((await client.tools()).map((tool) => tool.name)).toContain('perdure_run_wait')
    expect(await client.call('adder', { a: 2, b: 3 })).toMatchObject({ structuredContent: { sum: 5 } })
    expect(await client.call('parent')).toMatchObject({ content: [{ text: 'my colleague says: refunded' }] })
  })

  it('gets the result of one run although the server is killed during the call', async () => {
    const gate = `s${CLIENTS.indexOf(name)}.`
    const client = await connect(name, { url: program() })
    const called = client.call('gated', { text: gate }, { onprogress: () => undefined, timeout: 120_000 })
    await eventually(() => beginnings(gate)).toBe(1)

    await server.restart()
    openGate(gate)

    expect(await called).toMatchObject({ content: [{ text: 'Before. ' }] })
    const runs = await server.itemsOf<{ readonly input: { readonly text: string } }>(
      '/runs?agentId=gated&include=input',
    )
    expect(runs.filter(({ input }) => JSON.stringify(input).includes(gate))).toHaveLength(1)
  })
})

describe('perdure mcp serve', () => {
  it('lets a call wait for a server that is away, and starts its run once', async () => {
    const bridge = startBridge()
    await server.kill('SIGKILL')
    bridge.send(callOf(1, 'talker', 'w'))
    await eventually(bridge.err).toContain('does not answer')
    await server.start()

    await eventually(() => bridge.messages().filter(({ id }) => id === 1)).toMatchObject([
      { result: { content: [{}] } },
    ])
    expect(bridge.err()).toContain('answers again')
    bridge.end()
    expect(await bridge.ended).toBe(0)
  })

  it('answers open calls after the end of its input, and writes only messages to stdout', async () => {
    const bridge = startBridge()
    bridge.send({ id: 1, method: 'tools/list' })
    bridge.send(callOf(2, 'talker', 'e'))
    bridge.end()

    expect(await bridge.ended).toBe(0)
    const answered = bridge.messages().filter(({ method }) => method === undefined)
    expect(answered.map(({ id }) => id).toSorted()).toEqual([1, 2])
  })

  it('ends at once on SIGTERM, and leaves the run to the server', async () => {
    const gate = 'term.'
    const bridge = startBridge()
    bridge.send(callOf(1, 'gated', gate))
    await eventually(() => beginnings(gate)).toBe(1)
    bridge.kill('SIGTERM')

    expect(await bridge.ended).toBe(0)
    openGate(gate)
    await eventually(() => server.itemsOf('/runs?agentId=gated&status=running')).toEqual([])
  })

  it('exits with 4 when the server refuses the token', async () => {
    const bridge = startBridge('perdure_live_v1_wrong')

    expect(await bridge.ended).toBe(4)
    expect(bridge.err()).toContain('error[')
    expect(bridge.messages()).toEqual([])
  })

  it('exits with 3 when its input ends and it has not reached the server', async () => {
    await server.kill('SIGKILL')
    const bridge = startBridge()
    bridge.end()

    expect(await bridge.ended).toBe(3)
    await server.start()
  })
})
