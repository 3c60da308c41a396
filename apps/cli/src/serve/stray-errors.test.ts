import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, describe, expect, it } from 'vitest'
import { temporaryDir } from '../../test/temporary-dir.ts'

const MAIN = new URL('../main.ts', import.meta.url).href

const CONFIG = `
  const boom = () => { throw new Error('boom') }
  const leave = {
    rejection: () => { Promise.reject(new Error('boom')) },
    late: () => { setTimeout(async () => boom()) },
    timer: () => { setTimeout(boom) },
    tick: () => { process.nextTick(boom) },
  }
  process.on('SIGUSR2', () => { Promise.reject(new Error('outside any run')) })

  export default {
    server: { port: 0 },
    auth: { kind: 'none' },
    agents: [
      { id: 'plain', description: '', agent: { id: 'plain', async run(input) { leave[input]?.(); return 'done' } } },
      {
        id: 'generator',
        description: '',
        agent: { id: 'generator', async *run(input) { yield { type: 'one' }; leave[input]?.(); return 'done' } },
      },
    ],
  }
`

describe('a server process with stray errors', () => {
  const dir = temporaryDir()
  const running: ReturnType<typeof spawn>[] = []
  afterEach(() => {
    for (const child of running.splice(0)) child.kill('SIGKILL')
  })

  const start = async () => {
    await writeFile(join(dir(), 'perdure.config.mjs'), CONFIG)
    const script = `import(${JSON.stringify(MAIN)}).then(({ main }) => main())`
    const args = ['--conditions=perdure-source', '-e', script, '--', 'perdure', 'server']
    const child = spawn(process.execPath, args, { cwd: dir(), stdio: ['ignore', 'pipe', 'pipe'] })
    running.push(child)
    let err = ''
    child.stderr.on('data', (chunk) => {
      err += chunk
    })
    const ended = once(child, 'close').then(([code]) => code as number | null)
    const [line] = (await Promise.race([
      once(createInterface({ input: child.stdout }), 'line'),
      ended.then((code) => Promise.reject(new Error(`ended with ${code}: ${err}`))),
    ])) as [string]
    const url = line.replace('listening on ', '')
    const run = async (agentId: string, input: string) => {
      const response = await fetch(`${url}/agents/${agentId}/run`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ input }),
      })
      return (await response.json()) as { readonly runId: string; readonly status: string }
    }
    return { child, ended, run, err: () => err }
  }

  it('keeps serving after stray errors of a run and logs each error with the run id', async () => {
    const { child, ended, run, err } = await start()

    for (const agentId of ['plain', 'generator']) {
      for (const kind of ['rejection', 'late', 'timer', 'tick']) {
        const { runId, status } = await run(agentId, kind)

        expect(status, `${agentId} ${kind}`).toBe('completed')
        await expect.poll(err).toContain(runId)
      }
    }

    child.kill('SIGTERM')
    expect(await ended).toBe(0)
  })

  it('exits 1 after an error that belongs to no run', async () => {
    const { child, ended, err } = await start()

    child.kill('SIGUSR2')

    expect(await ended).toBe(1)
    expect(err()).toContain('outside any run')
  })
})
