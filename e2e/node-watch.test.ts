import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { removeFolder } from './perdure-process.ts'
import { startProcess } from './started-process.ts'

const PROGRAM = `
import { createServer } from 'perdure'
const server = await createServer({
  config: { auth: { kind: 'none' }, server: { port: 0 }, storage: { path: 'a.db' }, log: { level: 'error' } },
  agents: [{ id: 'echo', description: 'Answers its input.', agent: { run: async (input) => input } }],
})
await server.start()
const client = server.client({ subject: 'owner', scopes: ['agents:invoke:echo', 'runs:read:own'] })
const { result } = await client.agents.run('echo', { input: 'hi' })
console.log('ready', result)
process.once('SIGTERM', () => server.stop().then(() => process.exit(0)))
`

it('a program around a server works under `node --watch`, which adds messages to those of each thread', async () => {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'perdure-watch-')))
  onTestFinished(() => removeFolder(dir))
  mkdirSync(join(dir, 'node_modules'))
  symlinkSync(join(import.meta.dirname, '../packages/perdure'), join(dir, 'node_modules/perdure'))
  writeFileSync(join(dir, 'server.mjs'), PROGRAM)
  const command = { command: process.execPath, args: ['--watch', 'server.mjs'], cwd: dir, env: process.env }
  const program = await startProcess(command, /ready (\S+)|Failed running/)
  onTestFinished(async () => void (await program.stop()))

  expect(program.match[1], program.output()).toBe('hi')
})
