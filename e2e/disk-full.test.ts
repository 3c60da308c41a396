import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { bearer, createPlace, createToken, OPS_CONFIG, startServer } from './perdure-process.ts'

/** A disk of 24 MiB. @throws where this process may not mount one: the test must not pass without it */
function mountSmallDisk(path: string): void {
  mkdirSync(path)
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', path])
  onTestFinished(() => void execFileSync('umount', ['--lazy', path]))
}

describe('a disk that is full', () => {
  it('refuses what begins, serves reads, records what ends, and goes on without a restart', async () => {
    const base = createPlace()
    const disk = join(base.dir, 'disk')
    mountSmallDisk(disk)
    const gate = join(base.dir, 'gate')
    const path = join(disk, 'data.db')
    const place = { ...base, env: { ...base.env, PERDURE_STORAGE_PATH: path, E2E_GATE: gate } }
    const token = await createToken(place)
    const filler = join(disk, 'filler')
    writeFileSync(filler, Buffer.alloc(4 * 1024 * 1024))
    const server = await startServer(place, ['server', '--config', OPS_CONFIG])
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
    // What was begun before fails or is refused; from then on nothing is begun.
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
    // Nearly full is not full: the disk is smaller than what should be free.
    await expect.poll(async () => (await call('GET', '/health')).body?.status).toBe('degraded')
    await expect.poll(() => existsSync(`${path}.ballast`)).toBe(true)
    expect(server.process.exitCode).toBe(null)
    for (const runId of completed) expect((await call('GET', `/runs/${runId}`)).body?.status).toBe('completed')
    expect((await call('POST', '/audit/verify', {})).body).toMatchObject({ ok: true })
  })
})
