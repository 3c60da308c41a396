import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createClient, type Event } from '../packages/client/src/index.ts'
import { toolPath } from '../tooling/machine-tools.ts'
import { needsTool } from '../tooling/needed-tool.ts'
import { openDevTerminal, serverProcesses } from './dev-terminal.ts'
import { perdure, type RunningServer, removeFolder, type Sandbox, startServer } from './perdure-process.ts'
import { unusedPort } from './unused-port.ts'

const CONFIG = `
import { say } from './agents/say.mjs'
export default { server: { port: 0 }, agents: [say] }
`

/** Source of an agent that returns a word; with the input `loop` it blocks the thread forever. */
const agent = (word: string) => `
const run = async (input) => {
  if (input === 'loop') console.error('looping')
  while (input === 'loop');
  return '${word}'
}
export const say = { id: 'say', description: '', agent: { id: 'say', run } }
`

function createProject() {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'perdure-dev-')))
  onTestFinished(() => removeFolder(dir))
  const { PERDURE_URL: _, PERDURE_TOKEN: __, NO_COLOR: ___, FORCE_COLOR: ____, ...env } = process.env
  const sandbox: Sandbox = { dir, env: { ...env, XDG_CONFIG_HOME: join(dir, 'settings') } }
  const save = (file: string, text: string) => writeFileSync(join(dir, file), text)
  mkdirSync(join(dir, 'agents'))
  save('agents/say.mjs', agent('one'))
  save('perdure.config.mjs', CONFIG)
  const says = async () => JSON.parse((await perdure(sandbox, ['agents', 'run', 'say', '--json'])).stdout).result
  const tokenOf = (): string => JSON.parse(readFileSync(join(dir, '.graphorin/dev-session.json'), 'utf8')).token
  const loop = async (server: RunningServer) => {
    const headers = { authorization: `Bearer ${tokenOf()}`, 'content-type': 'application/json' }
    const asked = fetch(`${server.url}/agents/say/run`, { method: 'POST', headers, body: '{"input":"loop"}' })
    asked.catch(() => undefined)
    await expect.poll(server.stderr).toContain('looping')
  }
  return { sandbox, save, says, tokenOf, loop }
}

/** Waits for the line of the given restart, counted from 1. */
const restarts = (server: RunningServer, count: number) =>
  expect.poll(server.stderr, { interval: 20 }).toMatch(new RegExp(`^(?:[^]*?↻ restarted in \\d+ ms){${count}}`))

describe('perdure dev', () => {
  it('serves saved changes at the same address and keeps open streams running', async () => {
    const { sandbox, save, says, tokenOf } = createProject()
    const server = await startServer(sandbox, ['dev'])
    onTestFinished(() => void server.process.kill('SIGKILL'))
    expect(server.stderr()).not.toContain('/console/codes')
    const client = createClient({ baseUrl: server.url, token: tokenOf() })
    onTestFinished(() => client.close())
    const events: Event[] = []
    const subscription = client.subscribe('agent:say/events')
    const reading = (async () => {
      for await (const item of subscription) if (item.type === 'event') events.push(item.event)
    })()
    const resultOf = ({ type, payload }: Event) =>
      type === 'run.completed' ? [(payload as { readonly result: unknown }).result] : []
    const results = () => new Set(events.flatMap(resultOf))
    const follows = async () => {
      await says()
      return [...results()]
    }
    await expect.poll(follows).toEqual(['one'])

    save('agents/say.mjs', agent('two'))
    await restarts(server, 1)
    expect(server.stderr()).toMatch(/↻ restarted in \d+ ms \(agents\/say\.mjs\)/)
    expect(await says()).toBe('two')

    await expect.poll(() => [...results()]).toEqual(['one', 'two'])
    expect(new Set(events.map(({ eventId }) => eventId)).size).toBe(events.length)
    subscription.close()
    await reading
    expect(await server.kill('SIGTERM')).toMatchObject({ code: 0 })
    await expect.poll(() => serverProcesses(sandbox)).toEqual([])
  })

  it('keeps serving the previous configuration while a file is broken, and names file and line', async () => {
    const { sandbox, save, says } = createProject()
    const server = await startServer(sandbox, ['dev'])
    onTestFinished(() => void server.process.kill('SIGKILL'))

    save('agents/say.mjs', `const word = "${agent('broken')}`)
    await expect.poll(server.stderr).toContain('still serving the previous configuration')
    expect(server.stderr()).toContain(`hint: fix ${join(sandbox.dir, 'agents/say.mjs')}:1`)
    expect(await says()).toBe('one')

    save('perdure.config.mjs', CONFIG.replace('./agents/say.mjs', './agents/new.mjs'))
    await expect.poll(server.stderr).toContain('agents/new.mjs')
    save('agents/new.mjs', agent('new'))
    await restarts(server, 1)
    expect(await says()).toBe('new')
  })

  it.each(['idle', 'running an endless loop'])('leaves no process behind when it is killed while %s', async (state) => {
    const { sandbox, save, loop } = createProject()
    const server = await startServer(sandbox, ['dev', '--no-watch'])
    if (state !== 'idle') await loop(server)
    expect(await serverProcesses(sandbox)).toHaveLength(1)
    await server.kill('SIGKILL')

    await expect.poll(() => serverProcesses(sandbox)).toEqual([])
    save('agents/say.mjs', agent('again'))
    const next = await startServer(sandbox, ['dev', '--no-watch'])
    expect(await next.kill('SIGINT')).toMatchObject({ code: 0 })
  })

  it('replaces a hung server and hands over the storage', async () => {
    const { sandbox, save, says, loop } = createProject()
    const server = await startServer(sandbox, ['dev'])
    onTestFinished(() => void server.process.kill('SIGKILL'))
    await loop(server)

    save('agents/say.mjs', agent('free'))
    await restarts(server, 1)
    expect(await says()).toBe('free')
  })

  it('rejects a broken initial configuration with an exit code and one JSON document', async () => {
    const { sandbox, save } = createProject()
    save('perdure.config.mjs', 'export default { server: { prot: 1 } }')
    const { code, stdout, stderr } = await perdure(sandbox, ['dev', '--json'])

    expect(code).toBe(2)
    expect(JSON.parse(stdout)).toMatchObject({ error: 'config-invalid' })
    expect(stderr).toContain('error[config-invalid]')
    await expect.poll(() => serverProcesses(sandbox)).toEqual([])
  })
})

describe('the start of perdure dev', () => {
  it('says that another Perdure server has the port, and how to use another one', async () => {
    const [first, second] = [createProject(), createProject()]
    const server = await startServer(first.sandbox, ['dev', '--no-watch'])
    onTestFinished(() => void server.process.kill('SIGKILL'))
    const { port } = new URL(server.url)

    const refused = await perdure(second.sandbox, ['dev', '--no-watch', '--port', port])

    expect(refused.code).toBe(2)
    expect(refused.stderr).toContain(
      `error[address-in-use]: another Perdure server, perhaps perdure dev in another folder, already listens on 127.0.0.1:${port}\n`,
    )
    expect(refused.stderr).toContain(
      `hint: stop it, or start with --port ${Number(port) + 1} (--port 0 picks a free port)`,
    )
  })

  it('says that another program has the port', async () => {
    const { sandbox } = createProject()
    const other = createServer((_, response) => response.end('{"status":"fine"}')).listen(0, '127.0.0.1')
    onTestFinished(() => void other.close())
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo

    const { code, stderr } = await perdure(sandbox, ['dev', '--no-watch', '--port', `${port}`])

    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining(`another program already listens on 127.0.0.1:${port}\n`),
    ])
  })

  it('lets a debugger attach to the process that runs the agents, also after a restart', async () => {
    const { sandbox, save, says } = createProject()
    const port = await unusedPort()
    const server = await startServer(sandbox, ['dev', '--inspect', `${port}`])
    onTestFinished(() => void server.process.kill('SIGKILL'))
    const isDebuggable = () =>
      fetch(`http://127.0.0.1:${port}/json/version`).then(
        async (response) => JSON.stringify(await response.json()).includes('node.js'),
        () => false,
      )

    await expect.poll(isDebuggable).toBe(true)
    save('agents/say.mjs', agent('two'))
    await restarts(server, 1)

    await expect.poll(says).toBe('two')
    await expect.poll(isDebuggable).toBe(true)
    expect(server.stderr()).toContain(`Debugger listening on ws://127.0.0.1:${port}/`)
    expect(server.stderr()).not.toContain('address already in use')
  })

  it('warns of values that a result loses as JSON', async () => {
    const { sandbox, save, says } = createProject()
    save('agents/say.mjs', agent('one').replace("return 'one'", 'return { score: NaN, tags: new Set() }'))
    const server = await startServer(sandbox, ['dev', '--no-watch'])
    onTestFinished(() => void server.process.kill('SIGKILL'))

    expect(await says()).toEqual({ score: null, tags: {} })

    const lost = 'does not keep: result.score (NaN becomes null), result.tags (a Set becomes {})'
    await expect.poll(server.stderr).toContain(lost)
    expect(server.stderr().split(lost)).toHaveLength(2)
  })
})

needsTool('script').describe('perdure dev in a terminal', () => {
  it('responds to its keys', async () => {
    const { sandbox, tokenOf, says } = createProject()
    const opened = join(sandbox.dir, 'opened.txt')
    writeFileSync(join(sandbox.dir, 'browser.sh'), `#!/bin/sh\necho "$1" > '${opened}'\n`, { mode: 0o755 })
    const env = { ...sandbox.env, BROWSER: join(sandbox.dir, 'browser.sh') }
    const terminal = openDevTerminal({ ...sandbox, env })
    onTestFinished(terminal.kill)
    await terminal.shows('watching perdure.config.mjs, agents/**   ·   o open  t token  r restart  c clear  q quit')
    const first = tokenOf()
    expect(terminal.screen()).toContain(first)
    expect(terminal.screen()).toMatch(/Console +http:\/\/127\.0\.0\.1:\d+\/console\/#code=[\w-]{43} /)

    terminal.press('t')
    await expect.poll(tokenOf).not.toBe(first)
    await terminal.shows(tokenOf())
    terminal.press('o')
    await expect.poll(() => readIfThere(opened)).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/console\/#code=[\w-]{43}\n$/)
    terminal.press('r')
    await terminal.shows(/↻ restarted in \d+ ms\n/)
    expect(await says()).toBe('one')
    terminal.press('c')
    await expect.poll(terminal.raw).toContain('\u001b[2J')
    terminal.press('q')

    expect(await terminal.exited).toBe(0)
    await expect.poll(() => serverProcesses(sandbox)).toEqual([])
  })

  needsTool('bash', 'curl').it('prints its token in a terminal, and without one a command that reads it', async () => {
    const { sandbox, tokenOf } = createProject()
    const terminal = openDevTerminal(sandbox, ['--no-watch'])
    onTestFinished(terminal.kill)
    await terminal.shows('q quit')
    expect(terminal.screen()).toContain(`export PERDURE_TOKEN=${tokenOf()}`)
    terminal.press('q')
    await terminal.exited

    const piped = await startServer(sandbox, ['dev', '--no-watch'])
    onTestFinished(() => void piped.process.kill('SIGKILL'))
    await expect.poll(piped.stdout).toContain('/runs?limit=5')
    expect(piped.stdout() + piped.stderr()).not.toContain(tokenOf())
    expect(piped.stdout()).toMatch(/Console +http:\S+\/console\/ {2}\(sign in: /)
    expect(piped.stdout()).not.toContain('#code=')
    const [, commands = ''] = piped.stdout().split('this folder (Ctrl-C here stops the server):')
    const { stdout } = await promisify(execFile)(
      toolPath('bash'),
      ['-ec', commands.replace('  Or call the API:', '')],
      {
        cwd: sandbox.dir,
        env: sandbox.env,
      },
    )
    expect(stdout).toMatch(/^one\nRUN +OF[\s\S]+"result":"one"[\s\S]+"items":\[/)
    await piped.kill('SIGTERM')
  })

  it('exits on Ctrl-C, and offers no keys without a terminal', async () => {
    const { sandbox } = createProject()
    const terminal = openDevTerminal(sandbox, ['--no-watch'])
    onTestFinished(terminal.kill)
    await terminal.shows('q quit')
    expect(terminal.screen()).not.toContain('watching')
    terminal.press('\u0003')
    expect(await terminal.exited).toBe(0)

    const piped = await startServer(sandbox, ['dev'])
    await expect.poll(piped.stdout).toContain('watching')
    expect(piped.stdout()).not.toContain('q quit')
    await piped.kill('SIGTERM')
  })
})

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
