import { mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createClient, type Event } from '../packages/client/src/index.ts'
import { openDevTerminal, serverProcesses } from './dev-terminal.ts'
import { type Place, perdure, type RunningServer, removeFolder, startServer } from './perdure-process.ts'

const CONFIG = `
import { say } from './agents/say.mjs'
export default { server: { port: 0 }, agents: [say] }
`

/** An agent that answers with a word, and never yields again when it is asked to loop. */
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
  const place: Place = { dir, env: { ...env, XDG_CONFIG_HOME: join(dir, 'settings') } }
  const save = (file: string, text: string) => writeFileSync(join(dir, file), text)
  mkdirSync(join(dir, 'agents'))
  save('agents/say.mjs', agent('one'))
  save('perdure.config.mjs', CONFIG)
  const says = async () => JSON.parse((await perdure(place, ['agents', 'run', 'say', '--json'])).stdout).result
  const tokenOf = (): string => JSON.parse(readFileSync(join(dir, '.graphorin/dev-session.json'), 'utf8')).token
  const loop = async (server: RunningServer) => {
    const headers = { authorization: `Bearer ${tokenOf()}`, 'content-type': 'application/json' }
    const asked = fetch(`${server.url}/agents/say/run`, { method: 'POST', headers, body: '{"input":"loop"}' })
    asked.catch(() => undefined)
    await expect.poll(server.stderr).toContain('looping')
  }
  return { place, save, says, tokenOf, loop }
}

/** Waits for the line that the restart with this number writes. */
const restarts = (server: RunningServer, count: number) =>
  expect.poll(server.stderr, { interval: 20 }).toMatch(new RegExp(`^(?:[^]*?↻ restarted in \\d+ ms){${count}}`))

describe('perdure dev', () => {
  it('serves what was saved, at the same address, and lets open streams read on', async () => {
    const { place, save, says, tokenOf } = createProject()
    const server = await startServer(place, ['dev'])
    onTestFinished(() => void server.process.kill('SIGKILL'))
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
    await expect.poll(() => serverProcesses(place)).toEqual([])
  })

  it('goes on with what served before while a file is broken, and names file and line', async () => {
    const { place, save, says } = createProject()
    const server = await startServer(place, ['dev'])
    onTestFinished(() => void server.process.kill('SIGKILL'))

    save('agents/say.mjs', `const word = "${agent('broken')}`)
    await expect.poll(server.stderr).toContain('the configuration of before still serves')
    expect(server.stderr()).toContain(`hint: fix ${join(place.dir, 'agents/say.mjs')}:1`)
    expect(await says()).toBe('one')

    save('perdure.config.mjs', CONFIG.replace('./agents/say.mjs', './agents/new.mjs'))
    await expect.poll(server.stderr).toContain('agents/new.mjs')
    save('agents/new.mjs', agent('new'))
    await restarts(server, 1)
    expect(await says()).toBe('new')
  })

  it.each(['idle', 'in a loop that never yields'])('leaves no process behind when it is killed, %s', async (state) => {
    const { place, save, loop } = createProject()
    const server = await startServer(place, ['dev', '--no-watch'])
    if (state !== 'idle') await loop(server)
    expect(await serverProcesses(place)).toHaveLength(1)
    await server.kill('SIGKILL')

    await expect.poll(() => serverProcesses(place)).toEqual([])
    save('agents/say.mjs', agent('again'))
    const next = await startServer(place, ['dev', '--no-watch'])
    expect(await next.kill('SIGINT')).toMatchObject({ code: 0 })
  })

  it('replaces a server that hangs, and hands the storage over', async () => {
    const { place, save, says, loop } = createProject()
    const server = await startServer(place, ['dev'])
    onTestFinished(() => void server.process.kill('SIGKILL'))
    await loop(server)

    save('agents/say.mjs', agent('free'))
    await restarts(server, 1)
    expect(await says()).toBe('free')
  })

  it('refuses a first configuration that is broken, with its exit code and one JSON document', async () => {
    const { place, save } = createProject()
    save('perdure.config.mjs', 'export default { server: { prot: 1 } }')
    const { code, stdout, stderr } = await perdure(place, ['dev', '--json'])

    expect(code).toBe(2)
    expect(JSON.parse(stdout)).toMatchObject({ error: 'config-invalid' })
    expect(stderr).toContain('error[config-invalid]')
    await expect.poll(() => serverProcesses(place)).toEqual([])
  })
})

describe('perdure dev in a terminal', () => {
  it('obeys its keys', async () => {
    const { place, tokenOf, says } = createProject()
    const opened = join(place.dir, 'opened.txt')
    writeFileSync(join(place.dir, 'browser.sh'), `#!/bin/sh\necho "$1" > '${opened}'\n`, { mode: 0o755 })
    const env = { ...place.env, BROWSER: join(place.dir, 'browser.sh') }
    const terminal = openDevTerminal({ ...place, env })
    onTestFinished(terminal.kill)
    await terminal.shows('watching perdure.config.mjs, agents/**   ·   o open  t token  r restart  c clear  q quit')
    const first = tokenOf()
    expect(terminal.screen()).toContain(first)

    terminal.press('t')
    await expect.poll(tokenOf).not.toBe(first)
    await terminal.shows(tokenOf())
    terminal.press('o')
    await expect.poll(() => readIfThere(opened)).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1\/docs\n$/)
    terminal.press('r')
    await terminal.shows(/↻ restarted in \d+ ms\n/)
    expect(await says()).toBe('one')
    terminal.press('c')
    await expect.poll(terminal.raw).toContain('\u001b[2J')
    terminal.press('q')

    expect(await terminal.exited).toBe(0)
    await expect.poll(() => serverProcesses(place)).toEqual([])
  })

  it('ends on Ctrl-C, and has no keys without a terminal', async () => {
    const { place } = createProject()
    const terminal = openDevTerminal(place, ['--no-watch'])
    onTestFinished(terminal.kill)
    await terminal.shows('q quit')
    expect(terminal.screen()).not.toContain('watching')
    terminal.press('\u0003')
    expect(await terminal.exited).toBe(0)

    const piped = await startServer(place, ['dev'])
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
