import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { toolPath } from '../tooling/machine-tools.ts'
import { needsTool } from '../tooling/needed-tool.ts'
import { bearer, createSandbox, createToken, OPS_CONFIG, startServer } from './perdure-process.ts'

/** Mounts a 24 MiB disk. */
function mountSmallDisk(path: string): void {
  mkdirSync(path)
  execFileSync(toolPath('mount'), ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', path])
  onTestFinished(() => void execFileSync(toolPath('umount'), ['--lazy', path]))
}

needsTool('mount').describe('a server on a full disk', () => {
  it('refuses new work, serves reads, records the end of running work and recovers without a restart', async () => {
    const base = createSandbox()
    const disk = join(base.dir, 'disk')
    mountSmallDisk(disk)
    const gate = join(base.dir, 'gate')
    const path = join(disk, 'data.db')
    const sandbox = { ...base, env: { ...base.env, PERDURE_STORAGE_PATH: path, E2E_GATE: gate } }
    const token = await createToken(sandbox)
    const filler = join(disk, 'filler')
    writeFileSync(filler, Buffer.alloc(4 * 1024 * 1024))
    const server = await startServer(sandbox, ['server', '--config', OPS_CONFIG])
    onTestFinished(() => void server.process.kill('SIGKILL'))
    const call = async (method: string, target: string, body?: unknown) => {
      const options = body === undefined ? {} : { body: JSON.stringify(body) }
      const response = await fetch(server.url + target, { method, headers: bearer(token), ...options })
      const json = (await response.json().catch(() => undefined)) as Record<string, unknown> | undefined
      return { status: response.status, retryAfter: response.headers.get('retry-after'), body: json }
    }
    await expect.poll(() => existsSync(`${path}.ballast`)).toBe(true)

    const gated = await Promise.all(Array.from({ length: 10 }, () => call('POST', '/agents/gated/stream', {})))
    const input = 'x'.repeat(200_000)
    let refused = await call('POST', '/agents/echo/run', { input })
    const completed: unknown[] = []
    for (let n = 0; n < 500 && refused.status === 200; n++) {
      completed.push(refused.body?.runId)
      refused = await call('POST', '/agents/echo/run', { input })
    }
    // The first requests on the full disk fail or are refused; after them, the server refuses every new run.
    await expect.poll(async () => (await call('POST', '/agents/echo/run', {})).status).toBe(503)
    const mutation = await call('POST', '/agents/echo/run', {})
    expect(mutation).toMatchObject({ status: 503, retryAfter: '30', body: { error: 'storage-full' } })
    expect((await call('GET', `/runs/${completed[0]}`)).body).toMatchObject({ status: 'completed' })
    expect((await call('GET', '/runs?limit=5')).status).toBe(200)
    await expect.poll(async () => (await call('GET', '/health')).status).toBe(503)
    expect((await call('GET', '/health/ready')).status).toBe(503)
    expect((await call('GET', '/health/live')).status).toBe(200)
    expect(existsSync(`${path}.ballast`)).toBe(false)

    writeFileSync(gate, '')
    for (const { body } of gated) {
      await expect.poll(async () => (await call('GET', `/runs/${body?.runId}`)).body?.status).toBe('completed')
    }
    expect((await call('POST', '/agents/echo/run', {})).status).toBe(503)

    rmSync(filler)
    await expect.poll(async () => (await call('POST', '/agents/echo/run', { input: 1 })).status).toBe(200)
    // The whole disk is smaller than the configured free-space threshold, so the server still reports degraded.
    await expect.poll(async () => (await call('GET', '/health')).body?.status).toBe('degraded')
    await expect.poll(() => existsSync(`${path}.ballast`)).toBe(true)
    expect(server.process.exitCode).toBe(null)
    for (const runId of completed) expect((await call('GET', `/runs/${runId}`)).body?.status).toBe('completed')
    expect((await call('POST', '/audit/verify', {})).body).toMatchObject({ ok: true })
  })
})
