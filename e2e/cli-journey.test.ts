import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { toolPath } from '../tooling/machine-tools.ts'
import { needsTool } from '../tooling/needed-tool.ts'
import {
  BINARY,
  type RunningServer,
  removeFolder,
  perdure as runBinary,
  type Sandbox,
  startServer,
} from './perdure-process.ts'

const PEPPER = 'pepper-of-this-test-and-no-other'

let sandbox: Sandbox
let server: RunningServer

beforeAll(async () => {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'perdure-cli-')))
  const { PERDURE_URL: _, PERDURE_TOKEN: __, ...env } = process.env
  sandbox = { dir, env: { ...env, XDG_CONFIG_HOME: join(dir, 'settings') } }
  copyFileSync(join(import.meta.dirname, 'fixtures/cli.config.mjs'), join(dir, 'perdure.config.mjs'))
  server = await startServer(sandbox, ['dev'])
})

afterAll(async () => {
  await server?.kill('SIGTERM')
  removeFolder(sandbox.dir)
})

const perdure = (...args: readonly string[]) => runBinary(sandbox, args)

async function json(...args: readonly string[]) {
  const { stdout, stderr, code } = await perdure(...args, '--json')
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout)
}

describe('the command line', () => {
  it('runs an agent on the server that perdure dev started in the same folder', async () => {
    const { code, stdout, stderr } = await perdure(
      'agents',
      'run',
      'echo',
      '--input',
      '{"text":"hi there"}',
      '--stream',
    )

    expect({ code, stdout }).toEqual({ code: 0, stdout: 'hi there\n' })
    expect(stderr).toMatch(/✓ run_\w+ {2}completed/)
  })

  it('tails, traces and exports finished runs', async () => {
    const { runId } = await json('agents', 'run', 'echo', '--input', 'one two three')
    const { stdout } = await perdure('runs', 'tail', runId, '--follow')
    const types = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).type)

    expect(types).toEqual(['run.started', 'text.delta', 'text.delta', 'text.delta', 'run.completed'])
    expect((await perdure('runs', 'trace', runId)).stdout).toMatch(/^NAME .+\necho +agent +█+/)
    expect((await json('runs', 'export', runId)).events).toHaveLength(5)
    expect((await json('runs', 'list', '--agent', 'echo')).items[0].id).toBe(runId)
  })

  it('shows server status and benchmarks an agent', async () => {
    const { health, runs } = await json('top')
    const { stdout } = await perdure('top')
    const report = await json('bench', 'echo', '--connections', '2', '--duration', '1ms', '--input', 'quick')

    expect([health.status, runs[0].agentId]).toEqual(['ok', 'echo'])
    expect(stdout).toMatch(/^ok {2}up .*database \d+\.\d MiB[\s\S]+RUN +OF +STATUS/)
    expect(report).toMatchObject({ agent: 'echo', runs: 2, statuses: { completed: 2 } })
  })

  it('approves a pending approval and reports a conflict for a second decision', async () => {
    const asked = await perdure('agents', 'run', 'careful', '--json')
    const { runId, status } = JSON.parse(asked.stdout)
    const { items } = await json('approvals', 'list', '--run', runId)

    expect({ code: asked.code, status, titles: items.map(({ title }: { title: string }) => title) }).toEqual({
      ...{ code: 3, status: 'suspended' },
      titles: ['Send the mail?'],
    })
    expect(await json('approvals', 'approve', items[0].id, '--reason', 'fine')).toMatchObject({ status: 'approved' })
    expect((await perdure('runs', 'tail', runId, '--follow')).stdout).toContain('"result":{"sent":true}')
    const late = await perdure('approvals', 'deny', items[0].id, '--json')
    expect(late.code).toBe(6)
    expect(JSON.parse(late.stdout)).toMatchObject({ error: 'approval-resolved', requestId: expect.any(String) })
  })

  it('aborts a run', async () => {
    const { runId } = await json('agents', 'run', 'patient', '--detach')

    expect(await json('runs', 'abort', runId, '--reason', 'enough')).toMatchObject({ status: 'aborted' })
    expect((await perdure('runs', 'abort', runId)).code).toBe(0)
  })

  it('exits 1 when the run fails', async () => {
    expect((await perdure('agents', 'run', 'broken')).code).toBe(1)
  })

  it('exits 2 for an unknown flag, 3 without a server, 4 with an invalid token and 1 for an unknown run', async () => {
    const scoped = (await json('api', 'tokens.create', '-f', 'name=r', '-f', 'scopes=["agents:read"]')).token
    const codes = [
      await perdure('runs', 'list', '--stauts', 'failed'),
      await perdure('runs', 'list', '--url', 'http://127.0.0.1:1/v1'),
      await perdure('runs', 'list', '--token', 'perdure_live_v1_wrong'),
      await perdure('agents', 'run', 'echo', '--token', scoped),
      await perdure('runs', 'show', 'run_none'),
    ].map(({ code }) => code)

    expect(codes).toEqual([2, 3, 4, 4, 1])
  })

  it.skipIf(process.platform !== 'linux')('hides a token on the command line from the process list', async () => {
    const server = ['--url', 'http://127.0.0.1:1/v1', '--token', 'perdure_live_v1_secret']
    // Stays alive while it reads its input.
    const child = spawn(process.execPath, [BINARY, 'agents', 'run', 'x', '--input', '-', ...server], {
      cwd: sandbox.dir,
      env: sandbox.env,
      stdio: ['pipe', 'ignore', 'pipe'],
    })
    const ended = once(child, 'close')
    let stderr = ''
    child.stderr.on('data', (chunk) => {
      stderr += chunk
    })
    await expect.poll(() => stderr).toContain('warning: --token')
    expect(readFileSync(`/proc/${child.pid}/cmdline`, 'utf8')).toMatch(/^perdure\0*$/)
    child.stdin.end('{}')
    await ended
    expect(stderr).not.toContain('perdure_live_v1_secret')
  })

  it('leaves the environment out of the diagnostic reports of Node.js', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'perdure-report-'))
    const options = `--report-on-signal --report-signal=SIGUSR2 --report-dir=${dir} --report-filename=report.json`
    const env = { ...sandbox.env, NODE_OPTIONS: options, PERDURE_AUTH_PEPPER_REF: 'env:E2E_PEPPER', E2E_PEPPER: PEPPER }
    const reported = await startServer({ dir, env }, ['server', '--port', '0'])
    reported.process.kill('SIGUSR2')
    await expect
      .poll(() => existsSync(join(dir, 'report.json')) && readFileSync(join(dir, 'report.json'), 'utf8'))
      .toMatch(/}\s*$/)
    const report = readFileSync(join(dir, 'report.json'), 'utf8')
    await reported.kill('SIGTERM')
    removeFolder(dir)

    expect(JSON.parse(report).header.commandLine).toContain('server')
    expect(report).not.toContain(PEPPER)
  })

  it('exits 5 on a tampered audit chain and names the entry', async () => {
    const { runId } = await json('agents', 'run', 'echo', '--input', 'hi')
    expect((await perdure('runs', 'replay', runId)).code).toBe(0)
    const file = join(sandbox.dir, 'audit.ndjson')
    writeFileSync(file, (await perdure('audit', 'export')).stdout)
    expect((await perdure('audit', 'verify')).code).toBe(0)
    expect((await perdure('audit', 'verify', '--file', 'audit.ndjson')).code).toBe(0)

    const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
    const changed = lines.map((line, at) => (at === 1 ? line.replace(/"at":"\d{4}/, '"at":"1999') : line))
    writeFileSync(file, `${changed.join('\n')}\n`)
    const { code, stdout } = await perdure('audit', 'verify', '--file', 'audit.ndjson', '--json')
    expect(code).toBe(5)
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, firstBadSeq: 2, reason: 'entry-altered' })
  })

  it('cancels the run on Ctrl-C and exits 130', async () => {
    const child = spawn(process.execPath, [BINARY, 'agents', 'run', 'patient', '--stream'], {
      cwd: sandbox.dir,
      env: sandbox.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const ended = once(child, 'close')
    let stderr = ''
    child.stderr.on('data', (chunk) => {
      stderr += chunk
    })
    await expect.poll(() => stderr).toContain('waiting.now')
    child.kill('SIGINT')

    expect(await ended).toEqual([130, null])
    const [, runId = ''] = /cancelling (run_\w+)/.exec(stderr) ?? []
    expect(await json('runs', 'show', runId)).toMatchObject({ status: 'aborted' })
  })

  needsTool('bash').it('exits 0 silently when its reader closes the pipe early', async () => {
    const shell = `"${process.execPath}" "${BINARY}" api | head -1; echo "\${PIPESTATUS[0]}"`
    const child = spawn(toolPath('bash'), ['-c', shell], {
      cwd: sandbox.dir,
      env: sandbox.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let [out, stderr] = ['', '']
    child.stdout.on('data', (chunk) => {
      out += chunk
    })
    child.stderr.on('data', (chunk) => {
      stderr += chunk
    })
    await once(child, 'close')

    expect(out.trimEnd().split('\n')).toEqual([expect.stringContaining('OPERATION'), '0'])
    expect(stderr).toBe('')
  })
})
