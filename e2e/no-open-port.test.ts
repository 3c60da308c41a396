import { mkdtempSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { needsTool } from '../tooling/needed-tool.ts'
import { startProcess } from './started-process.ts'

/** A program around a server, in a folder that has the packages. */
const PROGRAM = `
import { createServer } from 'perdure'
const server = await createServer({
  config: { auth: { kind: 'none' }, server: { port: 0 }, storage: { path: process.env.DATABASE }, log: { level: 'error' } },
  agents: [{ id: 'echo', description: 'Answers its input.', agent: { run: async (input) => input } }],
})
await server.start({ listen: process.env.LISTEN === 'true' })
const client = server.client({ subject: 'owner', scopes: ['agents:invoke:echo', 'runs:read:own'] })
const { runId, result } = await client.agents.run('echo', { input: 'hi' })
for await (const { event } of client.subscribe('agent:echo/runs/' + runId + '/events')) if (event) var last = event.type
console.log('ready', result, last, process.pid)
process.once('SIGTERM', () => server.stop().then(() => process.exit(0)))
setInterval(() => undefined, 1_000)
`

/** Number of TCP sockets on which the process listens. */
function listeningSockets(pid: number): number {
  const links = readdirSync(`/proc/${pid}/fd`).map((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`)
    } catch {
      return '' // closed in the meantime
    }
  })
  const rows = ['tcp', 'tcp6'].flatMap((table) =>
    readFileSync(`/proc/${pid}/net/${table}`, 'utf8').split('\n').slice(1),
  )
  const listening = rows.map((row) => row.trim().split(/\s+/)).filter((fields) => fields[3] === LISTEN)
  return listening.filter((fields) => links.includes(`socket:[${fields[9]}]`)).length
}

const LISTEN = '0A'

needsTool('/proc').describe('a server inside a program', () => {
  it.each([
    ['opens no port if it does not listen', 'false', 0],
    ['opens one port if it listens', 'true', 1],
  ])('%s', async (_, listen, expected) => {
    const DATABASE = join(mkdtempSync(join(tmpdir(), 'perdure-no-port-')), 'a.db')
    const env = { ...process.env, LISTEN: listen, DATABASE }
    const cwd = join(import.meta.dirname, '../examples/hono')
    const args = ['--input-type=module', '-e', PROGRAM]
    const program = await startProcess({ command: process.execPath, args, cwd, env }, /ready (\S+) (\S+) (\d+)\n/)
    onTestFinished(async () => void (await program.stop()))

    const [, result, last, pid] = program.match
    expect([result, last]).toEqual(['hi', 'run.completed'])
    expect(listeningSockets(Number(pid))).toBe(expected)
  })
})
