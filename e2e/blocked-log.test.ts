import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, it, onTestFinished } from 'vitest'
import { toolPath } from '../tooling/machine-tools.ts'
import { needsTool } from '../tooling/needed-tool.ts'
import { BINARY, createSandbox } from './perdure-process.ts'
import { residentMiB } from './resident-mib.ts'

const CONFIG = join(import.meta.dirname, 'fixtures/logging.config.mjs')
const MEBIBYTE = 1_048_576
/** One run logs 100 lines of 10,000 characters. */
const LINES = 100

/** Starts a server. With `stderr: 'pipe'`, nothing reads its log until the caller does. */
async function start(stderr: 'pipe' | number) {
  const sandbox = createSandbox()
  const child = spawn(process.execPath, [BINARY, 'server', '--json', '--config', CONFIG], {
    ...{ env: sandbox.env, cwd: sandbox.dir },
    stdio: ['ignore', 'pipe', stderr],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const ended = once(child, 'exit')
  const lines = createInterface({ input: child.stdout as NonNullable<ChildProcess['stdout']> })
  const [line] = (await Promise.race([
    once(lines, 'line'),
    ended.then(([code]) => Promise.reject(new Error(`exited with ${code}`))),
  ])) as [string]
  const { host, port, basePath } = JSON.parse(line)
  const url = `http://${host}:${port}${basePath}`
  const run = async (agent: string, input: unknown) => {
    const response = await fetch(`${url}/agents/${agent}/run`, {
      ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
      body: JSON.stringify({ input }),
    })
    await response.text()
    return response.status
  }
  const metric = async (name: string): Promise<number> => {
    const text = await (await fetch(`${url}/metrics`)).text()
    return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
  }
  const rss = () => residentMiB(child.pid) * 1_048_576
  const stop = async () => {
    child.kill('SIGTERM')
    const [code] = await ended
    return code as number | null
  }
  return { child, run, metric, rss, stop }
}

type Server = Awaited<ReturnType<typeof start>>

/** Starts `count` runs one after another that log a megabyte each. Returns the time of the slowest. */
async function logMuch({ run }: Server, count: number): Promise<number> {
  let slowestMs = 0
  for (let done = 0; done < count; done++) {
    const startedAt = performance.now()
    expect(await run('chatty', { lines: LINES })).toBe(200)
    slowestMs = Math.max(slowestMs, performance.now() - startedAt)
  }
  return slowestMs
}

const dropped = ({ metric }: Server) => metric('svc_log_lines_dropped_total')
const entriesOf = (text: string) =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { readonly msg: string; readonly lines?: number })

describe('a server whose log is not read', () => {
  it('answers requests, drops and counts the lines that its buffer cannot hold, and reports them once it is read', async () => {
    const server = await start('pipe')
    const atFirst = await logMuch(server, 2)
    await logMuch(server, 20)
    const droppedBefore = await dropped(server)
    expect(droppedBefore).toBeGreaterThan(0)
    const rssBefore = server.rss()

    const slowestMs = await logMuch(server, 100)

    expect(slowestMs).toBeLessThan(Math.max(10 * atFirst, 2_000))
    expect(await dropped(server)).toBeGreaterThanOrEqual(droppedBefore + 99 * LINES)
    // These runs logged 100 MB.
    expect(server.rss() - rssBefore).toBeLessThan(64 * MEBIBYTE)

    let text = ''
    server.child.stderr?.setEncoding('utf8').on('data', (chunk) => {
      text += chunk
    })
    const reported = () =>
      entriesOf(text.slice(0, text.lastIndexOf('\n')))
        .filter(({ msg }) => msg.startsWith('log lines were dropped'))
        .reduce((sum, { lines = 0 }) => sum + lines, 0)
    await expect.poll(reported).toBeGreaterThan(0)
    await expect.poll(async () => reported() === (await dropped(server))).toBe(true)
    await server.run('echo', 'afterwards')
    const closed = once(server.child, 'close')
    expect(await server.stop()).toBe(0)
    await closed

    expect(entriesOf(text).map(({ msg }) => msg)).toContain('stopping')
    expect(entriesOf(text).findLastIndex(({ msg }) => msg === 'request')).toBeGreaterThan(
      entriesOf(text).findLastIndex(({ msg }) => msg.startsWith('log lines were dropped')),
    )
  })

  it('stops on SIGTERM', async () => {
    const server = await start('pipe')
    await logMuch(server, 20)
    const stoppedAt = performance.now()

    expect(await server.stop()).toBe(0)
    expect(performance.now() - stoppedAt).toBeLessThan(20_000)
  })

  it('answers requests and stops in order while the disk of its log is full', async () => {
    const fd = openSync('/dev/full', 'w')
    const server = await start(fd)
    closeSync(fd)
    await logMuch(server, 20)

    expect(await dropped(server)).toBeGreaterThan(0)
    expect(await server.stop()).toBe(0)
  })
})

needsTool('mount').describe('a server that logs into a file', () => {
  it('writes the waiting lines whole, and reports the dropped lines, once its full disk has space again', async () => {
    const disk = join(createSandbox().dir, 'disk')
    mkdirSync(disk)
    execFileSync(toolPath('mount'), ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', disk])
    onTestFinished(() => void execFileSync(toolPath('umount'), ['--lazy', disk]))
    const [file, filler] = [join(disk, 'server.log'), join(disk, 'filler')]
    writeFileSync(filler, Buffer.alloc(22 * MEBIBYTE))
    const fd = openSync(file, 'a')
    const server = await start(fd)
    closeSync(fd)
    await logMuch(server, 20)
    const lost = await dropped(server)
    expect(lost).toBeGreaterThan(0)

    rmSync(filler)
    const report = () =>
      entriesOf(readFileSync(file, 'utf8')).find(({ msg }) => msg.startsWith('log lines were dropped'))
    await expect.poll(() => readFileSync(file, 'utf8').includes('log lines were dropped')).toBe(true)

    expect(report()?.lines).toBeGreaterThanOrEqual(lost)
    expect(await server.stop()).toBe(0)
    expect(entriesOf(readFileSync(file, 'utf8')).at(-1)).toMatchObject({ msg: 'stopping' })
  })

  it('writes the last lines of a run that blocks the event loop, before the report of the watchdog', async () => {
    const file = join(createSandbox().dir, 'server.log')
    const fd = openSync(file, 'w')
    const server = await start(fd)
    closeSync(fd)
    server.run('spins', {}).catch(() => undefined)
    await expect.poll(() => readFileSync(file, 'utf8')).toContain('the event loop is blocked')

    const messages = entriesOf(readFileSync(file, 'utf8')).map(({ msg }) => msg)
    const report = messages.findIndex((msg) => msg.startsWith('the event loop is blocked'))
    expect(messages.slice(0, report)).toContain('about to spin')
  })

  it('has written every line when it has stopped in order', async () => {
    const file = join(createSandbox().dir, 'server.log')
    const fd = openSync(file, 'w')
    const server = await start(fd)
    closeSync(fd)
    await Promise.all(Array.from({ length: 50 }, (_, index) => server.run('echo', index)))
    await server.run('chatty', { lines: LINES })

    expect(await server.stop()).toBe(0)
    const messages = entriesOf(readFileSync(file, 'utf8')).map(({ msg }) => msg)
    expect(messages.filter((msg) => msg === 'request')).toHaveLength(51)
    expect(messages.filter((msg) => msg === 'run completed')).toHaveLength(51)
    expect(messages.filter((msg) => msg.startsWith('xxx'))).toHaveLength(LINES)
    expect(messages.at(-1)).toBe('stopping')
  })
})
